// SPDX-License-Identifier: MIT
// In a browser: the page. In node: the same charts for svg.mjs and `cleave report --svg`, under
// globalThis.cleaveReport.
import { svgText } from './plots.js';
import { svgFiles } from './svg_files.js';
import { readResults } from './model/results.js';
import { start } from './page/app.js';

/**
 * Every plot of a written page into a folder; fs is node's. A file appears whole or not at all: it is renamed
 * when complete, and Ctrl-C waits for it.
 */
async function writeSvgFiles(fs, pagePath, folder) {
    const data = fs.readFileSync(pagePath, 'utf8').split('<script id="results" type="application/json">')[1].split('</script>')[0];
    let isStopped = false;
    process.on('SIGINT', () => { isStopped = true; });
    const files = svgFiles(readResults(JSON.parse(data)));
    for (const { name, option, width, height } of files) {
        const path = `${folder}/${name}`;
        const temporary = `${path}.${process.pid}.tmp`;
        try {
            fs.writeFileSync(temporary, svgText(option, { width, height }));
            fs.renameSync(temporary, path);
        } catch (error) {
            fs.rmSync(temporary, { force: true });
            console.error(`cleave: ${path}: ${error.message}`);
            process.exit(2);
        }
        await new Promise(done => setImmediate(done));
        if (isStopped) process.exit(130);
    }
    console.log(`${folder}: ${files.length} plots`);
    process.exit(0);
}

if (typeof document === 'undefined') {
    globalThis.cleaveReport = { svgText, svgFiles, readResults, writeSvgFiles };
} else {
    start();
}
