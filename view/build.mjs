// SPDX-License-Identifier: MIT
// Puts the pages together: the template with style and script in it, and the engine as WebAssembly in the
// playground. `--check` only compares with what is there. esbuild is the one of report/, as pinned there.
// Usage: build.mjs [ENGINE.wasm] [--check]
import { createRequire } from 'node:module';
import { readFile, writeFile } from 'node:fs/promises';

const { build } = createRequire(new URL('../report/package.json', import.meta.url))('esbuild');
const here = new URL('.', import.meta.url);
const read = path => readFile(new URL(path, here), 'utf8');

const settings = { bundle: true, minify: true, write: false, format: 'iife', target: 'es2022', legalComments: 'none', charset: 'utf8', logLevel: 'warning' };

// `import text from 'worker:./file.js'`: that file bundled for itself, as a string for a worker.
const workers = {
    name: 'workers',
    setup(builder) {
        builder.onResolve({ filter: /^worker:/ }, ({ path }) => ({ path: new URL(`src/${path.slice('worker:./'.length)}`, here).pathname, namespace: 'worker' }));
        builder.onLoad({ filter: /.*/, namespace: 'worker' }, async ({ path }) => ({ contents: (await build({ ...settings, entryPoints: [path] })).outputFiles[0].text.trim(), loader: 'text' }));
    },
};

async function bundled(entry) {
    const { outputFiles } = await build({ ...settings, entryPoints: [new URL(entry, here).pathname], plugins: [workers] });
    return outputFiles[0].text.trim();
}

/** Replacements are functions: a "$&" in a script is text. */
function fill(text, parts) {
    for (const [mark, part] of Object.entries(parts)) {
        if (text.split(mark).length !== 2) throw new Error(`src/template.html: ${mark} stands there ${text.split(mark).length - 1} times, not once`);
        text = text.replace(mark, () => part);
    }
    return text;
}

async function filled(entry, live) {
    const script = await bundled(entry);
    if (/<\/script|<!--/i.test(script)) throw new Error('the script would end the script element');
    return fill(await read('src/template.html'), { '/*STYLE*/': await bundled('src/style.css'), '/*BUNDLE*/': script, '<!--LIVE-->': live });
}

async function page() {
    const text = await filled('src/main.js', '');
    for (const mark of ['<!--BLOCKS-->', '/*SCENE*/']) if (text.split(mark).length !== 2) throw new Error(`the place for ${mark} is not unique`);
    return text;
}

/**
 * The engine as an element: a .wasm file as an argument, or else the one in the page that is kept.
 * scripts/wasm.sh makes it, and says by what.
 */
async function engine() {
    const file = process.argv.slice(2).find(word => word.endsWith('.wasm'));
    const kept = (await read('playground.html').catch(() => '')).match(/<script type="text\/plain" id="engine" data-compiler="([^"]*)">[^<]+<\/script>/);
    if (!file && !kept) throw new Error('playground.html is not there: `make playground` makes it');
    if (!file) return kept[0];
    const compiler = process.env.ENGINE_COMPILER ?? 'unknown';
    if (process.argv.includes('--check') && kept && kept[1] !== compiler) {
        console.log(`the engine in view/playground.html is by emscripten ${kept[1]}, and here is ${compiler}: not compared`);
        return kept[0];
    }
    return `<script type="text/plain" id="engine" data-compiler="${compiler}">${(await readFile(file)).toString('base64')}</script>`;
}

async function playground() {
    const text = await filled('src/playground.js', (await read('src/live.html')).trim());
    return fill(text, { '<!--BLOCKS-->': await engine(), '/*SCENE*/': '{}' });
}

const pages = { 'page.html': await page(), 'playground.html': await playground() };
let differs = false;
for (const [name, made] of Object.entries(pages)) {
    if (process.argv.includes('--check')) {
        const same = await read(name).catch(() => '') === made;
        differs ||= !same;
        console.log(same ? `view/${name} is what its sources make` : `view/${name} is not what its sources make: run \`${name === 'page.html' ? 'node view/build.mjs' : 'make playground'}\` and commit it`);
    } else {
        await writeFile(new URL(name, here), made);
        console.log(`view/${name}: ${made.length} characters`);
    }
}
process.exit(differs ? 1 : 0);
