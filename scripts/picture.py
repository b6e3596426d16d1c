#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draw one frame of an .aabbs scene as SVG, seen along z: boxes, and the pairs that touch.

usage: scripts/picture.py SCENE.aabbs FRAME OUT.svg
"""
import struct
import sys


def read_frame(path, frame):
    with open(path, "rb") as scene:
        head = scene.read(304)
        count, frames = struct.unpack_from("<ii", head, 256)
        if not 0 <= frame <= frames:
            sys.exit(f"picture.py: {path} has frames 0 to {frames}, not {frame}")
        scene.seek(304 + 32 * count * frame)
        data = scene.read(32 * count)
    boxes = []
    for i in range(count):
        x0, y0, z0, _, x1, y1, z1, _ = struct.unpack_from("<8f", data, 32 * i)
        boxes.append(((x0, y0, z0), (x1, y1, z1)))
    return boxes


def touch(a, b):
    return all(a[0][k] <= b[1][k] and b[0][k] <= a[1][k] for k in range(3))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    boxes = read_frame(sys.argv[1], int(sys.argv[2]))
    pairs = [(i, j) for i in range(len(boxes)) for j in range(i) if touch(boxes[i], boxes[j])]
    meets = {index for pair in pairs for index in pair}
    low = [min(b[0][k] for b in boxes) for k in range(3)]
    high = [max(b[1][k] for b in boxes) for k in range(3)]
    scale = 880 / (high[0] - low[0])
    height = (high[1] - low[1]) * scale + 40

    def at(x, y):
        return 20 + (x - low[0]) * scale, height - 20 - (y - low[1]) * scale

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 {height:.0f}">',
        f"<title>{len(boxes)} boxes, {len(pairs)} touching pairs</title>",
        f'<rect width="920" height="{height:.0f}" fill="#10151c"/>',
    ]
    for index in sorted(range(len(boxes)), key=lambda i: boxes[i][0][2]):
        lower, upper = boxes[index]
        depth = (lower[2] - low[2]) / (high[2] - low[2])
        x, y = at(lower[0], upper[1])
        width, tall = (upper[0] - lower[0]) * scale, (upper[1] - lower[1]) * scale
        fill, edge = ("#f2a33a", "#ffd9a0") if index in meets else ("#4a7fb5", "#8fb8de")
        out.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{tall:.1f}" fill="{fill}" '
            f'fill-opacity="{0.25 + 0.5 * depth:.2f}" stroke="{edge}" stroke-width="0.8"/>'
        )
    for i, j in pairs:
        ends = [at((b[0][0] + b[1][0]) / 2, (b[0][1] + b[1][1]) / 2) for b in (boxes[i], boxes[j])]
        out.append(
            '<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ffffff" stroke-width="1.5"/>'
            % (ends[0] + ends[1])
        )
    out.append("</svg>")
    with open(sys.argv[3], "w", encoding="utf-8") as svg:
        svg.write("\n".join(out) + "\n")
    print(f"{sys.argv[3]}: {len(boxes)} boxes, {len(pairs)} pairs")


main()
