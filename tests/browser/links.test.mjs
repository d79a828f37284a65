// The address is the state; whatever is wrong in it is said in a sentence, and the page works.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import {
  ADDRESS, answer, button, canvasPicture, changes, cursor, drawing, drawn, entries, eventTexts, eventually, hash,
  openPanel, panel, queryOf, ready, scrubber, seek, timeline, withPages, worldFacts,
} from './lab.mjs';

const STORY = ['4 pause A 15', '21 crash B', '47 crash leader'];

const parameters = (page) =>
  page.evaluate(() => Object.fromEntries(new URLSearchParams(location.search)));
const notices = (page) => page.locator('.notice span').allTextContents();

/** All that a link should bring back. */
const state = async (page) => ({
  entries: await page.locator('.entries .entry').evaluateAll((all) =>
    all.map((entry) => `${entry.classList.contains('off') ? 'off: ' : ''}${entry.querySelector('.entry-text').textContent}`)),
  hash: await hash(page),
  said: await scrubber(page).getAttribute('aria-valuetext'),
  drawing: await drawing(page),
  picture: await canvasPicture(page),
  world: await worldFacts(page),
  events: await eventTexts(page),
  ghost: await page.getByRole('combobox', { name: /^Draw behind it/ }).inputValue(),
  outcome: await page.locator('.ghost-outcome').textContent(),
  theme: await page.getByRole('combobox', { name: 'Colours' }).inputValue(),
  ground: await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
});

/** Opens the page's present address in another, fresh browser profile. */
async function again(page, open) {
  const other = await open(new URL(page.url()).search);
  await drawn(other);
  return other;
}

async function works(page) {
  await seek(page, 14);
  assert.equal(await cursor(page), '14.0 s');
  assert.match((await worldFacts(page)).Key, /token \d+|nobody/);
  const said = await scrubber(page).getAttribute('aria-valuetext');
  await button(page, 'Next event').click();
  assert.notEqual(await scrubber(page).getAttribute('aria-valuetext'), said);
}

test('the address follows the state once it rests', withPages(async (open) => {
  const page = await open();
  assert.equal(new URL(page.url()).search, '', 'the address changes by itself');
  const length = await page.evaluate(() => history.length);
  await answer(page);
  await eventually(async () => assert.equal((await parameters(page)).t, '19.1'));
  await seek(page, 30);
  await eventually(async () => assert.equal((await parameters(page)).t, '30'));
  await button(page, 'Zoom in').click();
  await eventually(async () => assert.match((await parameters(page)).view, /^[\d.]+-[\d.]+$/));
  await page.getByRole('combobox', { name: /^Draw behind it/ }).selectOption('the fence off');
  await eventually(async () => assert.equal((await parameters(page)).ghost, 'fence-off'));
  await page.getByRole('combobox', { name: 'Colours' }).selectOption('Dark');
  await eventually(async () => assert.equal((await parameters(page)).theme, 'dark'));
  await button(page, 'Remove 47 crash leader').click();
  await eventually(async () => assert.equal((await parameters(page)).do, '4 pause A 15; 21 crash B'));
  await button(page, 'Switch off 21 crash B').click();
  await eventually(async () => {
    assert.equal((await parameters(page)).do, '4 pause A 15');
    assert.equal((await parameters(page)).off, '2:21 crash B');
  });
  // The browser's history is not filled with every step.
  assert.equal(await page.evaluate(() => history.length), length);
}));

test('while it plays the address stays, and follows when it stops', withPages(async (open) => {
  const page = await open('?t=30');
  const then = page.url();
  await button(page, 'Play').click();
  await eventually(async () => assert.ok(parseFloat(await cursor(page)) > 32));
  assert.equal(page.url(), then);
  await button(page, 'Pause').click();
  await eventually(async () =>
    assert.ok(Math.abs(Number((await parameters(page)).t) - parseFloat(await cursor(page))) < 0.01));
}));

for (const [what, query, prepare] of [
  ['the question', '', async () => {}],
  ['an answered question', '', (page) => answer(page)],
  [
    'a changed list with entries that are off',
    '',
    async (page) => {
      await button(page, 'Switch off 21 crash B').click();
      await button(page, 'Switch on 21 crash B').waitFor();
      await openPanel(page);
      await panel(page).getByRole('group', { name: 'Fence' }).getByRole('button', { name: 'off' }).click();
      await eventually(async () => assert.equal((await entries(page)).length, 4));
      await seek(page, 31.41);
    },
  ],
  [
    'entries of one instant, the first of them off',
    queryOf(['4 pause A 15', '4 isolate A', '30 heal'], '&t=20'),
    async (page) => {
      await button(page, 'Switch off 4 pause A 15').click();
      await button(page, 'Switch on 4 pause A 15').waitFor();
    },
  ],
  [
    'an empty list',
    '?t=20',
    async (page) => {
      for (const entry of STORY) {
        await button(page, `Remove ${entry}`).click();
      }
      await page.getByText('Nothing: everybody is left alone.').waitFor();
    },
  ],
  [
    'everything off',
    '?t=20',
    async (page) => {
      for (const entry of STORY) {
        await button(page, `Switch off ${entry}`).click();
        await button(page, `Switch on ${entry}`).waitFor();
      }
    },
  ],
  [
    'zoom, ghost and colours',
    '?t=19.05',
    async (page) => {
      for (let zoom = 0; zoom < 6; zoom += 1) {
        await button(page, 'Zoom in').click();
      }
      await page.getByRole('combobox', { name: /^Draw behind it/ }).selectOption('the fence off');
      await page.getByRole('combobox', { name: 'Colours' }).selectOption('Dark');
    },
  ],
  [
    'a ghost before the question’s instant',
    '?t=5',
    (page) => page.getByRole('combobox', { name: /^Draw behind it/ }).selectOption('the fence off'),
  ],
  [
    'a change, seen before the question’s instant',
    '?t=5',
    async (page) => {
      await button(page, 'Remove 47 crash leader').click();
      await eventually(async () => assert.equal((await entries(page)).length, 2));
    },
  ],
  [
    'an instant to the microsecond',
    queryOf(['3.123456 pause A 12.654321'], '&t=15.777777&view=15.7-15.8'),
    (page) => button(page, 'Zoom in').click(),
  ],
]) {
  test(`the address brings back exactly the same: ${what}`, withPages(async (open) => {
    const page = await open(query);
    await prepare(page);
    await button(page, 'Copy link').click();
    await drawn(page);
    const then = await state(page);
    const now = await state(await again(page, open));
    const text = (value) => JSON.stringify(value).slice(0, 300);
    for (const part of Object.keys(then)) {
      assert.ok(isDeepStrictEqual(now[part], then[part]), `${part} is ${text(now[part])}, not ${text(then[part])}`);
    }
  }));
}

test('Copy link copies an address with the hash, and it is the address of the page', withPages(async (open) => {
  const page = await open('?t=20', { permissions: ['clipboard-read', 'clipboard-write'] });
  await button(page, 'Copy link').click();
  await button(page, 'Link copied').waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, page.url());
  assert.equal(new URL(copied).searchParams.get('hash'), await hash(page));
  assert.ok(copied.startsWith(ADDRESS));
  const other = await open(new URL(copied).search);
  assert.deepEqual(await notices(other), []);
}));

for (const [what, spoil] of [
  ['refused', () => { navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError')); }],
  ['missing', () => { Object.defineProperty(Navigator.prototype, 'clipboard', { get: () => undefined }); }],
]) {
  test(`with the clipboard ${what} the page does not claim to have copied`, withPages(async (open) => {
    const page = await open('?t=20', { prepare: (page) => page.addInitScript(spoil) });
    await button(page, 'Copy link').click();
    await button(page, 'Link is in the address bar').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('hash'), await hash(page));
    assert.equal(await button(page, 'Link copied').count(), 0);
  }));
}

test('another hash than the run’s gives a notice, which can be put away', withPages(async (open) => {
  const page = await open('?t=20&hash=0123456789abcdef');
  assert.equal((await notices(page)).length, 1);
  assert.match((await notices(page))[0], /another version of the simulator/);
  await works(page);
  await button(page, 'Put away').click();
  await eventually(async () => assert.deepEqual(await notices(page), []));
}));

/** What a link can have wrong, and what the notice says about it. */
const BAD = [
  ['lab=nowhere', /a lab “nowhere” that does not exist/],
  ['lab=', /lab/],
  ['do=4%20pauze%20A', /interventions cannot be used.*pauze/],
  ['do=4', /interventions cannot be used/],
  ['do=4%20pause%20A%2015%3B%20x', /intervention 2/],
  [`do=${encodeURIComponent('5 partition n1 | n1,n2')}`, /n1/],
  [`do=${encodeURIComponent('0 margin 9')}`, /margin 9/],
  [`do=${encodeURIComponent('1 service redlock')}`, /service redlock/],
  [`do=${'1heal;'.repeat(2000)}`, /interventions cannot be used/],
  [`do=${'1+heal;'.repeat(2000)}`, /more than 200 entries/],
  [`do=${'1+heal;'.repeat(10_000)}`, /70,?00\d characters long/],
  [`do=${encodeURIComponent('4 pause A 15; '.repeat(1500))}`, /characters long/],
  [`do=${encodeURIComponent('4 pause A <img src=x onerror="window.pwned=1">')}`, /<img/],
  [`do=${encodeURIComponent('<script>window.pwned=1</script>')}`, /<script>/],
  [`do=${encodeURIComponent('"><svg onload=window.pwned=1>')}`, /<svg/],
  [`lab=${encodeURIComponent('</p><img src=x onerror="window.pwned=1">')}`, /<img/],
  [`theme=${encodeURIComponent('dark" onmouseover="window.pwned=1')}`, /onmouseover/],
  ['do=%E0%A4%A', /interventions cannot be used/],
  ['do=%', /interventions cannot be used/],
  ['do=%00', /interventions cannot be used/],
  [`do=${encodeURIComponent('4 pause Ä 15')}`, /Ä/],
  [`do=${encodeURIComponent('٤ pause A 15')}`, /٤/],
  [`do=${encodeURIComponent('4 pause A 15 😀'.repeat(40))}`, /interventions cannot be used/],
  [`do=${encodeURIComponent('\u202e4 pause A 15')}`, /interventions cannot be used/],
  ['t=-1', /t “-1” cannot be used; expected seconds from 0 to 60/],
  ['t=61', /t “61”/],
  ['t=1e1', /t “1e1”/],
  ['t=NaN', /t “NaN”/],
  ['t=', /t “”/],
  [`t=${encodeURIComponent('5 set x')}`, /t “5 set x”/],
  [`t=${'9'.repeat(400)}`, /t “9{60}…”/],
  [`t=${encodeURIComponent('١٢')}`, /t “١٢”/],
  ['view=22-12', /view “22-12” cannot be used; expected two times such as 12-22/],
  ['view=12', /view “12”/],
  ['view=12-61', /view “12-61”/],
  ['view=5-5', /view “5-5”/],
  ['view=', /view “”/],
  ['view=a-b', /view “a-b”/],
  ['seed=-1', /seed “-1” cannot be used; expected a whole number/],
  ['seed=1.5', /seed “1\.5”/],
  ['seed=99999999999999999999999', /seed/],
  ['seed=', /seed “”/],
  ['ghost=everything', /ghost “everything” cannot be used; expected none, fence-off/],
  ['ghost=', /ghost “”/],
  ['theme=pink', /theme “pink” cannot be used; expected auto, light or dark/],
  ['theme=', /theme “”/],
  ['v=2', /of version 2 and this page reads version 1/],
  ['v=x', /v “x” cannot be used; expected 1/],
  ['lang=fr', /lang “fr” cannot be used; expected en or zh-Hans/],
  ['embed=yes', /embed “yes” cannot be used; expected 0 or 1/],
  ['controls=few', /controls “few” cannot be used; expected full, transport or none/],
  ['hash=cafe', /hash “cafe” cannot be used; expected 16 hexadecimal digits/],
];

// One page for all: what a link did must not depend on what was open before.
test('each wrong value of a link gives a notice, no script runs, and the page works', withPages(async (open, blank) => {
  const page = await blank();
  for (const [query, says] of BAD) {
    await page.goto(`${ADDRESS}?${query}`);
    await ready(page);
    const what = `?${query.slice(0, 60)}`;
    const said = await notices(page);
    assert.equal(said.length, 1, `${what} gives the notices ${JSON.stringify(said)}`);
    assert.match(said[0], says, what);
    assert.match(said[0], /\.$/, `${what}: the notice is no sentence`);
    assert.ok(said[0].length < 500, `${what}: a notice of ${said[0].length} characters`);
    assert.deepEqual(await entries(page), STORY, what);
    assert.ok((await timeline(page).innerText()).includes('Worker A'), `${what}: nothing is drawn`);
    assert.equal(await page.evaluate(() => window.pwned), undefined, `${what} runs a script`);
    assert.equal(await page.locator('main img, main script, [onerror], [onload], [onmouseover]').count(), 0, what);
  }
  await works(page);
}));

test('several wrong values give a notice each, and what is right is used', withPages(async (open) => {
  const page = await open('?lab=x&do=y&t=z&view=v&seed=s&ghost=g&theme=dark');
  assert.equal((await notices(page)).length, 6);
  assert.equal(await page.getByRole('combobox', { name: 'Colours' }).inputValue(), 'dark');
  await page.locator('.notice').filter({ hasText: '“z”' }).getByRole('button', { name: 'Put away' }).click();
  await eventually(async () => assert.equal((await notices(page)).length, 5));
  assert.ok(!(await notices(page)).some((text) => text.includes('“z”')));
  await works(page);
}));

test('a link of exactly 16,384 characters is read, one more is not', withPages(async (open) => {
  const query = (length) => `?t=20&x=${'y'.repeat(length - 8)}`;
  const page = await open(query(16_384));
  assert.equal(await cursor(page), '20.0 s');
  assert.deepEqual(await notices(page), []);
  const other = await open(query(16_385));
  assert.match((await notices(other)).join(), /16385 characters long; expected at most 16384/);
  assert.equal(await cursor(other), '19.0 s');
}));

test('what the page does not use of a link stays in its address', withPages(async (open) => {
  const page = await open('?t=20&lang=zh-Hans&controls=transport&v=1');
  assert.deepEqual(await notices(page), []);
  await seek(page, 30);
  await eventually(async () => assert.deepEqual(
    await parameters(page),
    { lab: 'billing-story', t: '30', lang: 'zh-Hans', controls: 'transport' },
  ));
}));

test('odd but right links are right', withPages(async (open, blank) => {
  const page = await blank();
  for (const [query, expected] of [
    ['?do=', []],
    ['?do=;;%20;', []],
    ['?do=+4.00++pause+A++15.0', ['4 pause A 15']],
    ['?do=30%20heal;10%20heal', ['10 heal', '30 heal']],
    ['?unknown=1&utm_source=x', STORY],
    ['?', STORY],
    ['?do=7%20crash%20r3', ['7 crash r3']],
  ]) {
    await page.goto(`${ADDRESS}${query}`);
    await ready(page);
    assert.deepEqual(await entries(page), expected, query);
    assert.deepEqual(await notices(page), [], query);
  }
  const tiny = await open('?t=1&view=1-1.000001');
  await works(tiny);
  const seeded = await open('?seed=18446744073709551615&t=20');
  assert.deepEqual(await notices(seeded), []);
  await works(seeded);
}));

test('the page works when storage throws', withPages(async (open) => {
  const page = await open('', {
    prepare: (page) => page.addInitScript(() => {
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, { get: () => { throw new DOMException('refused', 'SecurityError'); } });
      }
    }),
  });
  await page.getByRole('combobox', { name: 'Colours' }).selectOption('Dark');
  await eventually(async () => assert.equal((await parameters(page)).theme, 'dark'));
  await works(page);
}));

test('the choice of colours is remembered, and a link’s own goes first', withPages(async (open, blank) => {
  const page = await open();
  await page.getByRole('combobox', { name: 'Colours' }).selectOption('Dark');
  await page.goto(ADDRESS);
  await ready(page);
  assert.equal(await page.getByRole('combobox', { name: 'Colours' }).inputValue(), 'dark');
  await page.goto(`${ADDRESS}?theme=light`);
  await ready(page);
  assert.equal(await page.getByRole('combobox', { name: 'Colours' }).inputValue(), 'light');
  await page.evaluate(() => localStorage.setItem('lease-lab-theme', '<nonsense>'));
  await page.goto(ADDRESS);
  await ready(page);
  assert.equal(await page.getByRole('combobox', { name: 'Colours' }).inputValue(), 'auto');
}));

/** Makes the server send a strict policy with the page. */
const strictPolicy = (page) =>
  page.route((url) => url.pathname === '/', async (route) => {
    const response = await route.fetch();
    const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'";
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy };
    await route.fulfill({ status: response.status(), headers, body: await response.body() });
  });

test('the page works under a strict content security policy', withPages(async (open) => {
  const page = await open('', { prepare: strictPolicy });
  await answer(page);
  await seek(page, 14.37);
  assert.equal(await cursor(page), '14.37 s');
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Isolate' }).click();
  await eventually(async () => assert.ok((await entries(page)).includes('14.37 isolate A')));
  await button(page, 'Play').click();
  await eventually(async () => assert.notEqual(await cursor(page), '14.37 s'));
  // The policy is in force.
  const refused = page.evaluate(() => new Promise((resolve) => {
    document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective));
    const style = document.createElement('link');
    Object.assign(style, { rel: 'stylesheet', href: 'http://other.invalid/x.css' });
    document.head.append(style);
  }));
  assert.match(await refused, /^style-src/);
}, [/other\.invalid/]));

test('the page works in a sandboxed frame of another origin, and takes no focus there', withPages(async (open, blank) => {
  assert.equal(new URL(ADDRESS).hostname, '127.0.0.1', 'the host must be of another origin');
  const host = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(`<!doctype html><title>Host</title><link rel="icon" href="data:,"><div style="height:1500px">Above</div>
      <iframe title="Lease Lab" sandbox="allow-scripts" src="${ADDRESS}?t=30" width="800" height="700"></iframe>`);
  });
  await new Promise((resolve) => host.listen(0, 'localhost', resolve));
  try {
    await inAFrame(await blank(), `http://localhost:${host.address().port}/`);
  } finally {
    host.close();
  }
  // The browser says so when a frame that may not use the clipboard tries; the page has to live with it.
}, [/^console: Permissions policy violation: The Clipboard API/]));

async function inAFrame(page, address) {
  await page.goto(address);
  const frame = page.frameLocator('iframe');
  await ready(frame);
  assert.equal(await page.evaluate(() => window.scrollY), 0, 'the host page is scrolled');
  assert.equal(await page.evaluate(() => document.activeElement === document.body), true, 'the frame takes the focus');
  await scrubber(frame).fill('14');
  await frame.getByRole('heading', { name: 'The world at 14.0 s' }).waitFor();
  await button(frame, 'Next event').click();
  await frame.getByRole('combobox', { name: 'Colours' }).selectOption('Dark');
  await button(frame, 'Remove 47 crash leader').click();
  await frame.getByRole('heading', { name: 'What you changed' }).waitFor();
  await changes(frame).getByRole('button', { name: 'Undo' }).click();
  await frame.getByRole('heading', { name: 'The story’s own faults' }).waitFor();
  await frame.getByRole('button', { name: 'Copy link' }).click();
  await frame.getByRole('button', { name: /^Link is/ }).waitFor();
}
