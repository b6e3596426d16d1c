// SPDX-License-Identifier: MIT
// Elements without markup: text from files only ever becomes text.

/**
 * h('p', { class: 'note' }, 'text', child, …); on* are listeners, other attributes are set unless null or
 * false.
 */
export function h(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
        else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
    }
    element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
    return element;
}

/** A labelled drop-down; `change` gets the value chosen, by its place in the list. */
export function picker(label, options, chosen, change) {
    const select = h('select', { onchange: () => change(options[select.selectedIndex].value) },
        options.map(({ text, value }) => h('option', { selected: value === chosen }, text)));
    return h('label', { class: 'picker' }, h('span', {}, label), select);
}

/** A row of buttons of which one is pressed. */
export function choice(label, options, chosen, change) {
    const buttons = options.map(({ text, value }) => h('button', {
        type: 'button',
        'aria-pressed': String(value === chosen),
        onclick: event => {
            for (const button of buttons) button.setAttribute('aria-pressed', String(button === event.currentTarget));
            change(value);
        },
    }, text));
    return h('div', { class: 'choice', role: 'group', 'aria-label': label }, buttons);
}
