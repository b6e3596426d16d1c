// SPDX-License-Identifier: MIT
// Puts page.html together: the template with style, script and licences in it. `--check` only
// compares with what is there.
import { build } from 'esbuild';
import { readFile, writeFile } from 'node:fs/promises';

const here = new URL('.', import.meta.url);
const read = path => readFile(new URL(path, here), 'utf8');
const escape = text => text.replace(/[&<>]/g, sign => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign]);

async function bundled(entry, loader) {
    const { outputFiles } = await build({
        entryPoints: [new URL(entry, here).pathname], bundle: true, minify: true, write: false, format: 'iife', target: 'es2022',
        legalComments: 'none', charset: 'utf8', loader, define: { 'process.env.NODE_ENV': '"production"' },
    });
    return outputFiles[0].text.trim();
}

async function licences() {
    const parts = [['Apache ECharts', 'echarts/LICENSE'], ['Apache ECharts, notice', 'echarts/NOTICE'], ['zrender', 'zrender/LICENSE'], ['tslib', 'tslib/LICENSE.txt']];
    const texts = await Promise.all(parts.map(async ([name, path]) => `==== ${name} ====\n\n${(await read(`node_modules/${path}`)).replace(/\r/g, '').trim()}\n`));
    return escape(texts.join('\n'));
}

// Replacements are functions: a "$&" in a script is text.
async function page() {
    const { version } = JSON.parse(await read('node_modules/echarts/package.json'));
    const parts = { '/*STYLE*/': await bundled('src/style.css'), '<!--VERSION-->': version, '<!--LICENCES-->': await licences(), '/*BUNDLE*/': await bundled('src/main.js') };
    let text = await read('src/template.html');
    for (const [mark, part] of Object.entries(parts)) {
        if (text.split(mark).length !== 2) throw new Error(`src/template.html: ${mark} stands there ${text.split(mark).length - 1} times, not once`);
        text = text.replace(mark, () => part);
    }
    if (/<\/script/i.test(parts['/*BUNDLE*/'])) throw new Error('the script would end the script element');
    if (text.split('/*RESULTS*/').length !== 2) throw new Error('the place for the results is not unique');
    return text;
}

const made = await page();
if (process.argv.includes('--check')) {
    const kept = await read('page.html').catch(() => '');
    if (kept !== made) {
        console.error('report/page.html is not what its sources make: run `npm --prefix report run build` and commit it');
        process.exit(1);
    }
    console.log('report/page.html is what its sources make');
} else {
    await writeFile(new URL('page.html', here), made);
    console.log(`report/page.html: ${made.length} characters`);
}
