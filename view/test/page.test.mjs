// SPDX-License-Identifier: MIT
// The page of `cleave view` in headless Chromium. CLEAVE names the program, CHROMIUM the browser; SHOTS, if
// set, a folder for the pictures that are compared, to look at them or to keep them as new references.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { axes, checkDialogs, closeBrowser, cutTexts, differ, openBrowser, reach, readHelp, said, untilSaid, withPage } from './browser.mjs';
import { at, cleave, folder, writeScene } from './scenes.mjs';

const { SHOTS } = process.env;
const page60 = at('freefall.html'), turned = at('turned.html'), odd = at('odd.html');

before(async () => {
    await openBrowser();
    cleave('view', 'freefall:500@60+40', '--set', 'kd.leaf=32', '-o', page60);
    cleave('view', 'freefall:500@60+40', '--bodies', '-o', turned);
    const inf = Infinity;
    writeScene(at('odd.aabbs'), [[-inf, -inf, -inf, inf, inf, inf, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2], [-inf, 0, -inf, inf, 1, inf, 0, 2, 0, 0, 2, 0, 1, 1, 1, 2, 2, 2]]);
    cleave('view', at('odd.aabbs'), '-o', odd);
});
after(async () => {
    await closeBrowser();
    rmSync(folder, { recursive: true, force: true });
});

/** The canvas alone, compared with the picture that is kept. */
async function compare(page, name) {
    await page.addStyleTag({ content: '#legend { display: none !important }' });
    await page.waitForTimeout(300);
    const shot = await page.locator('#picture').screenshot();
    if (SHOTS) {
        mkdirSync(SHOTS, { recursive: true });
        writeFileSync(join(SHOTS, `${name}.png`), shot);
    }
    const kept = readFileSync(new URL(`${name}.png`, import.meta.url));
    const difference = await differ(page, shot, kept);
    assert.ok(difference < 4, `${name}: differs by ${difference.toFixed(2)} of 255 from test/${name}.png`);
}

test('it loads, steps, scrubs and plays to its end', async () => {
    await withPage(page60, async page => {
        assert.deepEqual(await said(page).then(({ frame, objects, playing, ready }) => ({ frame, objects, playing, ready })), { frame: '0', objects: '500', playing: 'false', ready: 'true' });
        assert.equal(await page.textContent('#title'), 'freefall');
        await page.click('#on');
        await untilSaid(page, 'frame', 1);
        await page.click('#back');
        await untilSaid(page, 'frame', 0);
        await page.fill('#scrub', '35'); // the second block
        await untilSaid(page, 'frame', 35);
        const { pairs } = await said(page);
        assert.equal(Number((await page.textContent('#s-pairs')).replace(',', '')), Number(pairs));
        assert.equal(await page.evaluate(() => cleave.fact().pairs), Number(pairs));
        assert.equal(await page.textContent('#s-frame'), '35 of 40');
        assert.match(await page.textContent('#s-still'), /^\d+\.\d %$/);
        assert.match(await page.textContent('#s-ms'), /^[\d.]+ [µm]s update · [\d.]+ [µm]s search · [\d.]+ [µm]s list$/);
        await page.selectOption('#rate', '120');
        await page.click('#play');
        await untilSaid(page, 'frame', 40);
        await untilSaid(page, 'playing', false);
        await page.click('#play'); // from the beginning again
        await page.waitForFunction(() => document.documentElement.dataset.playing === 'true' && Number(document.documentElement.dataset.frame) < 40);
        await page.click('#play');
        await untilSaid(page, 'playing', false);
    });
});

test('a click selects, a number finds, partners lead on', async () => {
    await withPage(page60, async page => {
        await page.fill('#scrub', '40');
        await untilSaid(page, 'frame', 40);
        // Where some object that nothing hides is on the picture.
        const place = await page.evaluate(() => {
            const { clientWidth, clientHeight } = cleave.stage.canvas, matrix = cleave.camera.matrix(clientWidth / clientHeight), { boxes } = cleave.frame;
            for (let object = 0; object < 500; ++object) {
                const p = [0, 1, 2].map(axis => 0.5 * (boxes[8 * object + axis] + boxes[8 * object + 4 + axis]));
                const row = k => matrix[k] * p[0] + matrix[4 + k] * p[1] + matrix[8 + k] * p[2] + matrix[12 + k];
                const x = (row(0) / row(3) + 1) / 2 * clientWidth, y = (1 - row(1) / row(3)) / 2 * clientHeight;
                if (cleave.pickAt(x, y).object === object && boxes[8 * object + 3] > 0) return { object, x, y };
            }
            return null;
        });
        const box = await page.locator('#picture').boundingBox();
        await page.mouse.click(box.x + place.x, box.y + place.y);
        assert.equal(await page.textContent('#object h2'), `Object ${place.object}`);
        const partners = await page.$$eval('.partners .chip', chips => chips.map(chip => Number(chip.dataset.object)));
        assert.ok(partners.length > 0);
        await page.click('.partners .chip');
        assert.equal(await page.textContent('#object h2'), `Object ${partners[0]}`);
        assert.ok((await page.$$eval('.partners .chip', chips => chips.map(chip => Number(chip.dataset.object)))).includes(place.object));
        await page.fill('#search', '123');
        await page.keyboard.press('Enter');
        assert.equal(await page.textContent('#object h2'), 'Object 123');
        assert.match(await page.textContent('#object dl'), /lower.*upper.*sides.*speed.*per frame.*node.*depth/s);
    });
});

test('a number that is no object\'s is answered in words', async () => {
    await withPage(page60, async page => {
        const type = async text => { await page.fill('#search', text); await page.keyboard.press('Enter'); };
        const isBad = async () => [await page.getAttribute('#search', 'aria-invalid'), await page.isVisible('#search-error')];
        for (const [text, answer] of [['500', 'There is no object 500: type a number from 0 to 499.'], ['1,000', 'There is no object 1,000: type a number from 0 to 499.'],
            ['-1', '“-1” is not the number of an object: type a whole number from 0 to 499.'], ['<b>', '“<b>” is not the number of an object: type a whole number from 0 to 499.']]) {
            await type(text);
            assert.deepEqual(await isBad(), ['true', true], text);
            assert.equal(await page.textContent('#search-error'), answer);
            await checkDialogs(page);
        }
        await type('499');
        assert.deepEqual(await isBad(), ['false', false]);
        assert.equal(await page.textContent('#object h2'), 'Object 499');
        await type('x');
        await type('');
        assert.deepEqual(await isBad(), ['false', false]);
    });
});

test('the help tells every key, from its top', async () => {
    for (const options of [{ viewport: { width: 1280, height: 720 } }, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }]) {
        await withPage(page60, async page => {
            await page.click('#help-button');
            const lines = await readHelp(page);
            assert.deepEqual(lines, ['Keys', 'Space: play, pause', '← →: a frame back, on', 'Shift ← →: ten frames', 'Home End: first, last frame', '− +: slower, faster', 'W A S D: go round the scene',
                'Q E: nearer, farther', 'H: the whole scene again', 'F: go to the selected object', '1 … 5: colour: touching, static, speed, size, node', 'O B P T C: bodies, boxes, pairs, tree, cells',
                'K R: 18-DOPs, spheres around the bodies, where bodies are known', 'X: false pairs: none, of boxes, 18-DOPs, spheres', '/: search an object by its number', 'N: next partner of the object',
                'Esc: nothing selected', 'I: the panel', 'L: light, dark', '?: this list', 'Drag to turn, with Shift or the right button to move, wheel or two fingers to come nearer. Click selects, a double click goes there.']);
            await page.click('#help-close');
            assert.ok(await page.isHidden('#help'));
        }, options);
    }
});

test('keys are those of what has the focus', async () => {
    await withPage(page60, async page => {
        const press = async (selector, key) => { await page.focus(selector); await page.keyboard.press(key); };
        await press('#colour', 'ArrowDown');
        assert.equal(await page.inputValue('#colour'), 'static');
        await press('#search', 'b');
        assert.equal(await page.inputValue('#search'), 'b');
        assert.equal(await page.getAttribute('[data-overlay="boxes"]', 'aria-pressed'), 'false');
        await press('[data-overlay="pairs"]', 'Space');
        assert.equal(await page.getAttribute('[data-overlay="pairs"]', 'aria-pressed'), 'true');
        assert.equal((await said(page)).playing, 'false');
        await press('#scrub', 'ArrowRight'); // the slider of frames and the page mean the same
        await untilSaid(page, 'frame', 1);
        await press('#scrub', 'Shift+ArrowRight');
        await untilSaid(page, 'frame', 11);
    });
});

test('the curve of pairs has marks at its side', async () => {
    await withPage(page60, async page => {
        const [side] = await axes(page), most = await page.evaluate(() => Math.max(...cleave.source.facts.map(({ pairs }) => pairs)));
        assert.ok(side.length >= 2 && side[0] === '0' && Number(side.at(-1).replace(',', '')) <= 1.08 * most, String(side));
        assert.equal(await page.textContent('#course .title'), 'pairs');
    });
});

test('a tree without planes says why nothing is to be seen', async () => {
    await withPage(turned, async page => {
        await page.click('[data-overlay="tree"]');
        assert.match(await page.textContent('#legend'), /the tree is a single leaf, without planes: make the page with --set kd\.leaf=64/);
    });
    await withPage(page60, async page => {
        await page.click('[data-overlay="tree"]');
        assert.match(await page.textContent('#legend'), /planes of the tree across x, y, z$/);
    });
});

test('overlays and colours draw, in a handful of calls', async () => {
    await withPage(page60, async page => {
        const calls = () => page.evaluate(() => new Promise(done => { cleave.dirty = true; requestAnimationFrame(() => requestAnimationFrame(() => done(cleave.stage.drawCalls))); }));
        await page.fill('#scrub', '40');
        await untilSaid(page, 'frame', 40);
        const few = async more => { const count = await calls(); assert.ok(count === 2 + more || count === 3 + more, `${count} calls`); };
        await few(0); // bodies, by points and where some are large by faces, and the world's edges
        for (const name of ['boxes', 'pairs', 'tree', 'cells']) {
            await page.click(`[data-overlay="${name}"]`);
            assert.equal(await page.getAttribute(`[data-overlay="${name}"]`, 'aria-pressed'), 'true');
        }
        await few(4);
        for (const colour of ['static', 'speed', 'size', 'node']) {
            await page.selectOption('#colour', colour);
            assert.equal(await page.getAttribute('#legend', 'data-colour'), colour);
            await calls();
        }
        assert.equal(await page.evaluate(() => cleave.stage.gl.getError()), 0);
    });
});

test('the pictures are the ones that were looked at', async () => {
    for (const [name, colorScheme, act] of [['touching', 'dark', () => {}], ['tree', 'light', () => { cleave.colour('node'); cleave.toggle('tree'); }]]) {
        await withPage(page60, async page => {
            await page.fill('#scrub', '40');
            await untilSaid(page, 'frame', 40);
            await page.evaluate(act);
            await compare(page, name);
        }, { colorScheme, viewport: { width: 600, height: 560 } });
    }
});

test('a renderer in software shows by points what others show by faces', async () => {
    for (const [file, zoom] of [[page60, 1], [turned, 1], [page60, 0.25], [turned, 0.25]]) {
        await withPage(file, async page => {
            const shoot = () => page.locator('#picture').screenshot();
            assert.ok(await page.evaluate(() => cleave.stage.isSoftware));
            const look = async () => {
                await page.evaluate(by => { cleave.camera.zoom(by); cleave.go(20); }, zoom);
                await untilSaid(page, 'frame', 20);
                await page.waitForTimeout(500);
                return shoot();
            };
            const points = await look();
            await page.evaluate(() => { cleave.stage.isSoftware = false; cleave.open(cleave.source); });
            await untilSaid(page, 'ready', true);
            const faces = await look();
            await page.evaluate(() => cleave.toggle('bodies'));
            await page.waitForTimeout(300);
            const nothing = await shoot(), difference = await differ(page, points, faces);
            assert.ok(difference < 1.5, `${zoom}: ${difference.toFixed(2)} of 255`);
            assert.ok(await differ(page, points, nothing) > 5 * difference + 2);
        });
    }
});

test('volumes around bodies, and their false pairs', async () => {
    await withPage(page60, async page => {
        assert.deepEqual(await page.$$eval('[data-overlay="dops"], [data-overlay="spheres"], #falses', all => all.map(one => one.hidden)), [true, true, true]); // nothing tells of bodies
        await page.keyboard.press('k');
        await page.keyboard.press('x');
        assert.deepEqual(await page.evaluate(() => [cleave.show.dops, cleave.show.falses]), [false, 0]);
        assert.ok(await page.isHidden('#s-falses'));
    });
    await withPage(turned, async page => {
        await page.fill('#scrub', '40');
        await untilSaid(page, 'frame', 40);
        const shoot = async () => { await page.waitForTimeout(500); return page.locator('#picture').screenshot(); };
        const [boxes, dops, spheres] = (await said(page)).falses.split(' ').map(Number);
        assert.ok(boxes >= dops && boxes >= spheres && dops > 0 && spheres > dops, `${boxes} ${dops} ${spheres}`);
        assert.equal(await page.textContent('#s-falses'), `${boxes} of boxes · ${dops} of 18-DOPs · ${spheres} of spheres`);
        let last = await shoot();
        for (const [name, key] of [['dops', 'k'], ['spheres', 'r']]) {
            await page.click(`[data-overlay="${name}"]`);
            assert.equal(await page.getAttribute(`[data-overlay="${name}"]`, 'aria-pressed'), 'true');
            const now = await shoot();
            assert.ok(await differ(page, last, now) > 0.3, name);
            last = now;
            await page.evaluate(() => document.activeElement.blur());
            await page.keyboard.press(key);
            assert.equal(await page.getAttribute(`[data-overlay="${name}"]`, 'aria-pressed'), 'false');
            last = await shoot();
        }
        for (const [which, kept] of [['boxes', boxes], ['dops', dops], ['spheres', spheres]]) {
            await page.keyboard.press('x');
            assert.equal(await page.inputValue('#falses'), which);
            await page.waitForTimeout(300);
            const lines = await page.evaluate(() => [...cleave.falsePairs()]);
            assert.equal(lines.length, 2 * boxes);
            assert.equal(lines.filter(object => object < 2 ** 31).length, 2 * kept);
            assert.equal(await page.evaluate(() => cleave.stage.falsePairs.count), boxes);
            assert.match(await page.textContent('#legend'), /bodies do not/);
        }
        assert.ok(await differ(page, last, await shoot()) > 0.1);
        await page.selectOption('#falses', 'none');
        assert.equal(await page.evaluate(() => cleave.show.falses), 0);
        assert.equal(await page.evaluate(() => cleave.stage.gl.getError()), 0);
    });
});

test('pairs that begin and end are logged', async () => {
    await withPage(page60, async page => {
        await page.fill('#scrub', '20');
        await untilSaid(page, 'frame', 20);
        const { begun, ended } = await page.evaluate(() => cleave.fact());
        const first = page.locator('#log li').first();
        assert.match(await first.textContent(), new RegExp(`frame 20.*\\+ ${begun}.*− ${ended}`));
    });
});

test('the keyboard is enough', async () => {
    await withPage(page60, async page => {
        const press = key => page.keyboard.press(key);
        await press('End');
        await untilSaid(page, 'frame', 40);
        await press('ArrowLeft');
        await untilSaid(page, 'frame', 39);
        await press('Shift+ArrowLeft');
        await untilSaid(page, 'frame', 29);
        await press('Home');
        await untilSaid(page, 'frame', 0);
        await press('Space');
        await untilSaid(page, 'playing', true);
        await press('Space');
        await untilSaid(page, 'playing', false);
        await press('/');
        await page.keyboard.type('42');
        await press('Enter');
        assert.equal(await page.textContent('#object h2'), 'Object 42');
        await press('Escape');
        await press('Escape');
        assert.equal(await page.$('#object h2'), null);
        const eye = () => page.evaluate(() => cleave.camera.eye);
        for (const key of ['w', 'a', 's', 'd', 'q', 'e']) {
            const start = await eye();
            await press(key);
            assert.notDeepEqual(await eye(), start, key);
        }
        for (const [key, overlay] of [['b', 'boxes'], ['p', 'pairs'], ['t', 'tree'], ['c', 'cells'], ['o', 'bodies']]) {
            const before = await page.getAttribute(`[data-overlay="${overlay}"]`, 'aria-pressed');
            await press(key);
            assert.notEqual(await page.getAttribute(`[data-overlay="${overlay}"]`, 'aria-pressed'), before);
        }
        await press('3');
        assert.equal(await page.inputValue('#colour'), 'speed');
        await press('?');
        assert.ok(await page.isVisible('#help'));
        await press('Escape');
        assert.ok(!(await page.isVisible('#help')));
        await press('Tab');
        assert.equal(await page.evaluate(() => document.activeElement.id), 'colour');
    });
});

test('light and dark, and the choice is remembered', async () => {
    await withPage(page60, async page => {
        assert.equal((await said(page)).theme, 'light');
        await page.click('#theme');
        await untilSaid(page, 'theme', 'dark');
        await page.reload();
        await page.waitForSelector('html[data-ready="true"]', { state: 'attached' });
        assert.equal((await said(page)).theme, 'dark');
    }, { colorScheme: 'light' });
});

test('title and buttons are whole at every width', async () => {
    for (const width of [1280, 1024, 800, 390]) await withPage(turned, async page => assert.deepEqual(await cutTexts(page), [], String(width)), { viewport: { width, height: 720 } });
});

test('a telephone can use it: nothing lies on the scene', async () => {
    for (const file of [page60, turned]) await withPage(file, async page => {
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
        const look = async (least, what) => {
            const { height, free, hidden } = await reach(page);
            assert.deepEqual(hidden, [], what);
            assert.ok(height >= least && free > 0.95, `${what}: ${height} pixels high, ${free} of it free`);
        };
        await look(500, 'at first');
        assert.deepEqual([await page.isVisible('#panel'), await page.isVisible('#tools')], [false, false]);
        await page.tap('#panel-button');
        assert.ok(await page.isVisible('#panel'));
        await look(250, 'with the panel');
        await page.tap('#panel-close');
        await page.tap('#tools-button');
        await look(400, 'with what is drawn');
        await page.tap('[data-overlay="boxes"]');
        assert.equal(await page.evaluate(() => cleave.show.boxes), true);
        await page.tap('#tools-button');
        assert.ok(await page.isHidden('#tools'));
        await page.tap('#on');
        await untilSaid(page, 'frame', 1);
    }, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
});

test('infinite boxes and hostile names', async () => {
    await withPage(odd, async page => {
        assert.equal(await page.textContent('#title'), '<b>made</b>');
        await page.fill('#search', '0');
        await page.keyboard.press('Enter');
        assert.match(await page.textContent('#object dl'), /lower−∞, −∞, −∞upper∞, ∞, ∞/);
    });
});

test('what a page cannot show it says, in words', async () => {
    const text = readFileSync(page60, 'utf8');
    const damaged = { cut: text.replace(/(class="block">.{2000})[^<]*/, '$1'), old: text.replace('"format":2', '"format":1') };
    for (const [name, page] of Object.entries(damaged)) writeFileSync(at(`${name}.html`), page);
    for (const [file, answer] of [['cut.html', /^block 0 of the scene cannot be read: .+; make the page again with cleave view$/], ['old.html', /^The scene cannot be shown: this page reads format 2, and the scene is of 1$/]]) {
        await withPage(at(file), async page => {
            await page.waitForSelector('#trouble:not([hidden])');
            assert.match(await page.textContent('#trouble'), answer);
            await checkDialogs(page);
        }, { expectTrouble: true });
    }
    await withPage(page60, async page => {
        await page.waitForSelector('#trouble:not([hidden])');
        assert.match(await page.textContent('#trouble'), /^The scene cannot be shown: .*WebGL2/);
        await checkDialogs(page);
    }, { expectTrouble: true, withoutWebGL: true });
});
