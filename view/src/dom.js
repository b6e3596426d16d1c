// SPDX-License-Identifier: MIT
// Elements without markup: text from scenes only ever becomes text.
export const $ = id => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
        else if (value === true) element.setAttribute(name, '');
        else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children.flat().filter(child => child !== null && child !== undefined));
    return element;
}

/** Sets a text only where it is another: a page that plays would lay itself out sixty times a second. */
export function say(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

export const grouped = value => Math.round(value).toLocaleString('en-US');
export const number = value => !Number.isFinite(value) ? (value > 0 ? '∞' : '−∞') : (Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(2) : value.toFixed(Math.abs(value) < 10 ? 3 : 2)).replace('-', '−');
export const milliseconds = value => value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toFixed(3);
