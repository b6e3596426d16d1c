// SPDX-License-Identifier: MIT
// package.json as npm publishes it: with repository, homepage and bugs, where the repository has an
// address that others can open. scripts/wasm.sh gives the address of `origin`, or CLEAVE_REPOSITORY.
// Usage: node package.mjs [ADDRESS]
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const FOLDER = 'bindings/js';

/** The page of a repository by its address, as in https://host/owner/name; null for a folder and the like. */
export function pageOf(address) {
    const [, host, path] = address.match(/^(?:git\+)?(?:https?|ssh|git):\/\/(?:[^@/]+@)?([^/:]+)(?::\d+)?\/(.+?)(?:\.git)?\/?$/)
        ?? address.match(/^(?:[^@/:]+@)([^/:]+):(.+?)(?:\.git)?\/?$/) ?? [];
    return host === undefined ? null : `https://${host}/${path}`;
}

export function published(text, address) {
    const json = JSON.parse(text), page = pageOf(address);
    if (page !== null) {
        json.repository = { type: 'git', url: `git+${page}.git`, directory: FOLDER };
        json.homepage = `${page}#readme`;
        json.bugs = { url: `${page}/issues` };
    }
    return `${JSON.stringify(json, null, 2)}\n`;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
    process.stdout.write(published(readFileSync(new URL('package.json', import.meta.url), 'utf8'), process.argv[2] ?? ''));
}
