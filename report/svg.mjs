// SPDX-License-Identifier: MIT
// Charts as SVG, from node alone: ECharts comes out of the built page.html, so nothing needs to be installed.
//
//     import { svgText } from './svg.mjs';
//     import { radarChart } from './src/charts/radar.js';
//     await writeFile('radar.svg', svgText(radarChart({ axes, series }), { width: 700, height: 560 }));
import { readFileSync } from 'node:fs';
import { runInThisContext } from 'node:vm';

const page = readFileSync(new URL('page.html', import.meta.url), 'utf8');
runInThisContext(page.split('<script id="bundle">')[1].split('</script>')[0], { filename: 'report/page.html' });

/**
 * (ECharts option, { width, height, background }) -> SVG document. Options of src/charts/*.js, or
 * any that use their parts.
 */
export const svgText = globalThis.cleaveReport.svgText;

/** { files: [{ name, results }] } -> what the plots ask for; src/model/results.js tells. */
export const readResults = globalThis.cleaveReport.readResults;

/** What `cleave report --svg` writes: [{ name, option, width, height }] of readResults' answer. */
export const svgFiles = globalThis.cleaveReport.svgFiles;
