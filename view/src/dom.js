// SPDX-License-Identifier: MIT
// Elements without markup, as the report makes them: text from scenes only ever becomes text. And
// numbers as people read them.
export { h as make } from '../../report/src/page/dom.js';

export const $ = id => document.getElementById(id);

/** Sets a text only where it is another: a page that plays would lay itself out sixty times a second. */
export function say(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

export const grouped = value => Math.round(value).toLocaleString('en-US');
export const number = value => !Number.isFinite(value) ? (value > 0 ? '∞' : '−∞') : (Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(2) : value.toFixed(Math.abs(value) < 10 ? 3 : 2)).replace('-', '−');

/** A time in milliseconds as [number, unit]: in µs where it is shorter than a millisecond. */
export function timeParts(ms) {
    const value = ms < 0.9995 ? 1000 * ms : ms, isMicro = ms < 0.9995;
    if (ms < 0.00005) return ['< 1', 'µs']; // clocks tell no less
    return isMicro ? [value.toFixed(value >= 9.95 ? 0 : 1), 'µs'] : [value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2), 'ms'];
}

export const timeText = ms => timeParts(ms).join(' ');
