// SPDX-License-Identifier: MIT
// Names and headings that have all words of the field in them; names that begin with it come first.
const field = document.getElementById('search'), found = document.getElementById('found');
const escape = text => text.replace(/[&<>"]/g, sign => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]);

function show() {
    const wanted = field.value.trim().toLowerCase(), words = wanted.split(/\s+/);
    const hits = wanted === '' ? [] : window.CLEAVE_INDEX.filter(([name, , where]) => words.every(word => `${name} ${where}`.toLowerCase().includes(word)));
    const rank = ([name]) => (name.toLowerCase().startsWith(wanted) ? 0 : name.toLowerCase().includes(wanted) ? 1 : 2);
    hits.sort((a, b) => rank(a) - rank(b) || a[0].length - b[0].length);
    found.innerHTML = hits.slice(0, 40).map(([name, address, where]) => `<li><a href="../${escape(address)}">${escape(name)}</a> <small>${escape(where)}</small></li>`).join('')
        + (wanted !== '' && hits.length === 0 ? '<li>nothing is called so</li>' : '');
    history.replaceState(null, '', wanted === '' ? location.pathname : `?q=${encodeURIComponent(field.value)}`);
}
field.addEventListener('input', show);
field.value = new URLSearchParams(location.search).get('q') ?? '';
if (field.value !== '') show();
field.focus({ preventScroll: true });
