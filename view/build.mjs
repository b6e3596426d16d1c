// SPDX-License-Identifier: MIT
// Puts page.html together: the template with style and script in it. `--check` only compares with what is there. esbuild is the one of
// report/, as pinned there.
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

async function page() {
    const script = await bundled('src/main.js');
    if (/<\/script|<!--/i.test(script)) throw new Error('the script would end the script element');
    const text = fill(await read('src/template.html'), { '/*STYLE*/': await bundled('src/style.css'), '/*BUNDLE*/': script, '<!--LIVE-->': '' });
    for (const mark of ['<!--BLOCKS-->', '/*SCENE*/']) if (text.split(mark).length !== 2) throw new Error(`the place for ${mark} is not unique`);
    return text;
}

const pages = { 'page.html': await page() };
let differs = false;
for (const [name, made] of Object.entries(pages)) {
    if (process.argv.includes('--check')) {
        const same = await read(name).catch(() => '') === made;
        differs ||= !same;
        console.log(same ? `view/${name} is what its sources make` : `view/${name} is not what its sources make: run \`node view/build.mjs\` and commit it`);
    } else {
        await writeFile(new URL(name, here), made);
        console.log(`view/${name}: ${made.length} characters`);
    }
}
process.exit(differs ? 1 : 0);
