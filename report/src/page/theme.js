// SPDX-License-Identifier: MIT
// Light, dark, or what the system says; printing is always light.
import { dark, light } from '../look.js';
import { choice } from './dom.js';

const system = () => window.matchMedia('(prefers-color-scheme: dark)');
const PLACE = 'cleave-report-theme';

// Pages opened from disk may have no storage.
function stored() {
    try { return localStorage.getItem(PLACE) ?? 'auto'; } catch { return 'auto'; }
}
function store(value) {
    try { localStorage.setItem(PLACE, value); } catch { /* then it is forgotten */ }
}

export function makeTheme(changed) {
    let wanted = ['auto', 'light', 'dark'].includes(stored()) ? stored() : 'auto';
    let isPrinting = false;
    const look = () => (!isPrinting && (wanted === 'dark' || (wanted === 'auto' && system().matches)) ? dark : light);
    const apply = () => {
        document.documentElement.dataset.theme = look().name;
        changed();
    };
    system().addEventListener('change', apply);
    const print = value => () => {
        isPrinting = value;
        apply();
    };
    window.addEventListener('beforeprint', print(true));
    window.addEventListener('afterprint', print(false));
    document.documentElement.dataset.theme = look().name;
    const control = choice('theme', ['auto', 'light', 'dark'].map(value => ({ text: value, value })), wanted, value => {
        wanted = value;
        store(value);
        apply();
    });
    return { look, control };
}
