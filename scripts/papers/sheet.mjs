// SPDX-License-Identifier: MIT
// Pictures of the same size side by side in one PNG (RFC 2083): those that `cleave render` writes, eight bits a channel, red green blue, each row less the one above.
import { readFileSync, writeFileSync } from 'node:fs';
import * as zlib from 'node:zlib';

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const UP = 2;

/** { width, height, pixels }: three bytes a pixel. */
export function readPng(bytes) {
    const data = [];
    let width = 0, height = 0;
    for (let at = 8; at < bytes.length;) {
        const length = bytes.readUInt32BE(at), kind = bytes.toString('latin1', at + 4, at + 8);
        if (kind === 'IHDR') [width, height] = [bytes.readUInt32BE(at + 8), bytes.readUInt32BE(at + 12)];
        if (kind === 'IDAT') data.push(bytes.subarray(at + 8, at + 8 + length));
        at += 12 + length;
    }
    const packed = zlib.inflateSync(Buffer.concat(data)), pixels = Buffer.alloc(3 * width * height), row = 3 * width;
    for (let y = 0; y < height; ++y) {
        if (packed[y * (row + 1)] !== UP) throw new Error('a PNG that is not by cleave render');
        for (let i = 0; i < row; ++i) pixels[y * row + i] = packed[y * (row + 1) + 1 + i] + (y > 0 ? pixels[(y - 1) * row + i] : 0);
    }
    return { width, height, pixels };
}

// zlib has it from node 22 on.
const table = Array.from({ length: 256 }, (_, i) => { let value = i; for (let bit = 0; bit < 8; ++bit) value = value & 1 ? value >>> 1 ^ 0xedb88320 : value >>> 1; return value >>> 0; });
const crcOf = zlib.crc32 ?? (bytes => { let crc = 0xffffffff; for (const byte of bytes) crc = table[(crc ^ byte) & 255] ^ crc >>> 8; return (crc ^ 0xffffffff) >>> 0; });

function chunk(kind, data) {
    const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]), out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(crcOf(body), body.length + 4);
    return out;
}

export function writePng({ width, height, pixels }) {
    const head = Buffer.alloc(13), row = 3 * width, rows = Buffer.alloc((row + 1) * height);
    head.writeUInt32BE(width, 0);
    head.writeUInt32BE(height, 4);
    head.set([8, 2, 0, 0, 0], 8);
    for (let y = 0; y < height; ++y) {
        rows[y * (row + 1)] = UP;
        for (let i = 0; i < row; ++i) rows[y * (row + 1) + 1 + i] = pixels[y * row + i] - (y > 0 ? pixels[(y - 1) * row + i] : 0);
    }
    return Buffer.concat([SIGNATURE, chunk('IHDR', head), chunk('IDAT', zlib.deflateSync(rows, { level: 9 })), chunk('IEND', Buffer.alloc(0))]);
}

/** So many columns, from the top left on. */
export function writeSheet(target, files, columns) {
    const parts = files.map(file => readPng(readFileSync(file))), [{ width, height }] = parts, rows = Math.ceil(parts.length / columns);
    const whole = { width: columns * width, height: rows * height, pixels: Buffer.alloc(3 * columns * width * rows * height, 255) };
    parts.forEach(({ pixels }, i) => {
        for (let y = 0; y < height; ++y) pixels.copy(whole.pixels, 3 * ((Math.floor(i / columns) * height + y) * whole.width + i % columns * width), 3 * y * width, 3 * (y + 1) * width);
    });
    writeFileSync(target, writePng(whole));
}
