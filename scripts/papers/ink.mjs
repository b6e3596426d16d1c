// SPDX-License-Identifier: MIT
// The colours of drawings that are no plots, which scripts in Python draw with too; those of methods are in report/src/look.js.
import { readFileSync } from 'node:fs';

export const ink = JSON.parse(readFileSync(new URL('../colours.json', import.meta.url), 'utf8'));
