// Labs within other pages: a frame, the custom element, messages and scores, from another origin.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { ADDRESS, commandLine, eventually, withPages } from './lab.mjs';

// The page is served from 127.0.0.1 or localhost; its parent comes from the other name, which is another origin.
const HOME = new URL(ADDRESS);
let body = '';
let policy;
const server = createServer((request, response) => {
  const headers = { 'content-type': 'text/html; charset=utf-8' };
  if (policy) headers['content-security-policy'] = policy;
  response.writeHead(200, headers);
  response.end(`<!doctype html><html lang="en"><title>A course</title><link rel="icon" href="data:,"><body>${body}</body></html>`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
after(() => server.close());
const PARENT = `http://127.0.0.1:${server.address().port}/`;
// Chromium counts two ports of one host as two origins too.
assert.notEqual(new URL(PARENT).origin, HOME.origin);

/** What a strict course page allows. */
const STRICT = `default-src 'none'; script-src ${HOME.origin}; frame-src ${HOME.origin}; img-src data:`;

/** A parent page that remembers every message. */
async function parentPage(blank, html, { csp, ...options } = {}) {
  body = html;
  policy = csp;
  const remember = (page) =>
    page.addInitScript(() => {
      if (window === window.top) {
        window.heard = [];
        window.addEventListener('message', ({ data, origin }) => window.heard.push({ data, origin }));
      }
    });
  const page = await blank({ reducedMotion: 'reduce', ...options, prepare: remember });
  await page.goto(PARENT);
  return page;
}

const heard = (page, subject) => page.evaluate((subject) => window.heard.map(({ data }) => data).filter((data) => data.subject === subject || data.event === subject), subject);
const frameOf = (page, place = 0) => page.frames().filter((frame) => frame.url().startsWith(ADDRESS))[place];
const lab = (page) => page.frameLocator('iframe').first().getByRole('region', { name: 'The lab' });

const iframe = (query, more = '') => `<iframe title="A lab" src="${ADDRESS}?${query}" width="700" height="600" ${more}></iframe>`;

for (const [how, more, csp] of [
  ['plainly', '', undefined],
  ['in a sandbox', 'sandbox="allow-scripts"', undefined],
  ['under a strict policy', '', STRICT],
]) {
  test(`a frame shows the lab alone, ${how}`, withPages(async (open, blank) => {
    const page = await parentPage(blank, `<p><button>First</button></p>${iframe('lab=zombie&embed=1', more)}`, { csp });
    await lab(page).waitFor();
    const inside = page.frameLocator('iframe');
    await inside.getByRole('button', { name: 'Play', exact: true }).waitFor();
    for (const gone of ['Contents', 'Copy link']) {
      assert.equal(await inside.getByText(gone, { exact: true }).filter({ visible: true }).count(), 0, gone);
    }
    await inside.getByRole('link', { name: 'Open in Lease Lab' }).waitFor();
    // The focus is where it was, and the page has not moved.
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'BODY');
    assert.equal(await page.evaluate(() => window.scrollY), 0);
    // It tells its height.
    await eventually(async () => {
      const [{ height }] = (await heard(page, 'lti.frameResize')).slice(-1);
      assert.ok(height > 300 && height < 3000, `${height}`);
    });
    await eventually(async () => assert.equal((await heard(page, 'ready')).length, 1));
    // It runs as anywhere else.
    const { hash } = await commandLine('run', 'zombie', '--format', 'json');
    assert.equal(await frameOf(page).evaluate(() => window.leaseLab.hash), hash);
  }));
}

test('the wheel scrolls the course, and keys outside do nothing inside', withPages(async (open, blank) => {
  const page = await parentPage(blank, `${iframe('lab=zombie&embed=1&t=5')}<div style="height: 3000px"></div>`, { viewport: { width: 800, height: 600 } });
  await lab(page).waitFor();
  await eventually(async () => assert.ok(await frameOf(page).evaluate(() => Boolean(window.leaseLab?.state))));
  const at = () => frameOf(page).evaluate(() => window.leaseLab.state().t);
  const before = await at();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Space');
  assert.equal(await at(), before);
  await page.evaluate(() => scrollTo(0, 0));
  await page.mouse.move(300, 200);
  await page.mouse.wheel(0, 1500);
  await eventually(async () => assert.ok((await page.evaluate(() => scrollY)) > 0));
  assert.equal(await at(), before);
}));

test('an embedded lab and an embedded drill have the colours that the address asks for', withPages(async (open, blank) => {
  for (const query of ['lab=zombie&embed=1&theme=dark', 'drill=late-write&embed=1&theme=dark']) {
    const page = await parentPage(blank, iframe(query));
    await lab(page).waitFor();
    assert.equal(await page.frameLocator('iframe').locator('html').getAttribute('data-theme'), 'dark', query);
  }
}));

test('controls are full, transport or none', withPages(async (open, blank) => {
  for (const [controls, play, change] of [['full', 1, 1], ['transport', 1, 0], ['none', 0, 0]]) {
    const page = await parentPage(blank, iframe(`lab=zombie&embed=1&controls=${controls}`));
    await lab(page).waitFor();
    const inside = page.frameLocator('iframe');
    await inside.getByRole('link', { name: 'Open in Lease Lab' }).waitFor();
    assert.equal(await inside.getByRole('button', { name: 'Play', exact: true }).count(), play, controls);
    assert.equal(await inside.locator('#intervene').count(), change, controls);
    // No key does what no button does.
    await inside.locator('#lab').focus();
    const before = await frameOf(page).evaluate(() => window.leaseLab.state());
    await page.keyboard.press('Home');
    const { t } = await frameOf(page).evaluate(() => window.leaseLab.state());
    assert.equal(t === before.t, controls === 'none', controls);
  }
}));

const element = (attributes) => `<script async src="${ADDRESS}lease-lab.js"></script><lease-lab ${attributes}></lease-lab>`;

for (const [how, csp] of [['plainly', undefined], ['under a strict policy', STRICT]]) {
  test(`the custom element has attributes, methods and events, ${how}`, withPages(async (open, blank) => {
    const page = await parentPage(blank, element('lab="zombie" controls="transport" t="5" heading="The zombie"'), { csp });
    await page.frameLocator('lease-lab iframe').getByRole('button', { name: 'Play', exact: true }).waitFor();
    assert.equal(await page.locator('lease-lab iframe').getAttribute('title'), 'The zombie');
    const told = await page.evaluate(async () => {
      const lab = document.querySelector('lease-lab');
      const steps = [];
      lab.addEventListener('step', ({ detail }) => steps.push(detail.t));
      await lab.seek(12.5);
      const state = await lab.state();
      const refused = await lab.seek('soon').catch((error) => error.message);
      const wrong = await lab.intervene('4 dance A').catch((error) => error.message);
      await lab.intervene('4 pause A 2');
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { state, refused, wrong, steps, after: await lab.state() };
    });
    assert.equal(told.state.lab, 'zombie');
    assert.equal(told.state.t, 12.5);
    assert.ok(told.steps.includes(12.5));
    assert.match(told.refused, /is no instant; expected seconds/);
    assert.match(told.wrong, /dance/);
    assert.ok(told.after.interventions.includes('4 pause A 2'));
    assert.notEqual(told.after.hash, told.state.hash);
    // The frame fits its content.
    await eventually(async () => assert.notEqual(await page.locator('lease-lab iframe').evaluate((frame) => frame.style.height), '620px'));
  }));
}

test('nothing is loaded before it comes near, and several labs compile once', withPages(async (open, blank) => {
  const far = '<div style="height: 4000px"></div>';
  const page = await parentPage(blank, `${element('lab="zombie"')}<lease-lab lab="margin"></lease-lab>${far}<lease-lab lab="release"></lease-lab>`);
  await eventually(async () => assert.equal((await heard(page, 'ready')).length, 2));
  assert.equal(page.frames().filter((frame) => frame.url().startsWith(ADDRESS)).length, 2);
  const compiled = () =>
    Promise.all(page.frames().filter((frame) => frame.url().startsWith(ADDRESS)).map((frame) => frame.evaluate(() => window.leaseLabCompiled?.size ?? 0)));
  assert.equal((await compiled()).reduce((sum, count) => sum + count), 1);
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await eventually(async () => assert.equal((await heard(page, 'ready')).length, 3));
  assert.equal((await compiled()).reduce((sum, count) => sum + count), 1);
  // Moving one moves no other.
  const times = await page.evaluate(async () => {
    const labs = [...document.querySelectorAll('lease-lab')];
    await labs[0].seek(3);
    await labs[1].seek(7);
    return Promise.all(labs.map(async (lab) => (await lab.state()).t));
  });
  assert.deepEqual(times.slice(0, 2), [3, 7]);
}));

test('messages from anybody but the parent are ignored, and wrong ones are answered in a sentence', withPages(async (open, blank) => {
  const page = await parentPage(blank, iframe('lab=zombie&embed=1&t=5'));
  await eventually(async () => assert.equal((await heard(page, 'ready')).length, 1));
  const frame = frameOf(page);
  const before = await frame.evaluate(() => window.leaseLab.state().t);
  // From the frame itself.
  await frame.evaluate(() => window.postMessage({ leaseLab: 1, id: 1, method: 'seek', value: 1 }, '*'));
  await page.evaluate(async () => {
    const target = document.querySelector('iframe').contentWindow;
    for (const data of [null, 5, 'text', {}, { leaseLab: 2, method: 'seek', value: 1 }, { leaseLab: 1, id: 9, method: 'constructor' }, { leaseLab: 1, id: 10, method: 'seek', value: NaN }, { leaseLab: 1, id: 11, method: 'intervene', value: '<img src=x onerror=alert(1)>' }]) {
      target.postMessage(data, '*');
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
  });
  assert.equal(await frame.evaluate(() => window.leaseLab.state().t), before);
  const answers = await page.evaluate(() => window.heard.map(({ data }) => data).filter((data) => data.answer !== undefined));
  assert.deepEqual(answers.map(({ answer }) => answer), [9, 10, 11]);
  assert.ok(answers.every(({ error }) => typeof error === 'string' && error.length < 300));
}));

test('a score is told after a committed answer, and not before', withPages(async (open, blank) => {
  for (const more of ['', 'sandbox="allow-scripts"']) {
    const page = await parentPage(blank, iframe('drill=late-write&then=zombie-for&embed=1', more));
    const inside = page.frameLocator('iframe');
    await inside.getByRole('button', { name: 'Commit to this' }).waitFor();
    await eventually(async () => assert.equal((await heard(page, 'SPLICE.getState')).length, 1));
    await inside.getByText('It refuses the chunk, because the token is below the fence.').click();
    assert.equal((await heard(page, 'SPLICE.reportScoreAndState')).length, 0);
    await inside.getByRole('button', { name: 'Commit to this' }).click();
    await eventually(async () => assert.equal((await heard(page, 'SPLICE.reportScoreAndState')).length, 1));
    const [{ score, state, message_id }] = await heard(page, 'SPLICE.reportScoreAndState');
    // One of the two drills of this set is right.
    assert.equal(score, 0.5);
    assert.ok(message_id.length > 8);
    assert.equal(JSON.parse(state.progress).version, 1);
    assert.equal((await heard(page, 'SPLICE.sendEvent'))[0].data.right, true);
    assert.equal((await heard(page, 'answer'))[0].detail.drill, 'late-write');
    await page.close();
  }
}));

test('a state that the learning system has kept is shown again', withPages(async (open, blank) => {
  const progress = JSON.stringify({
    version: 1,
    items: { 'late-write': { attempts: [{ day: Math.floor(Date.now() / 86_400_000), right: false, score: 0, answer: 'option 1' }] } },
  });
  const page = await parentPage(
    blank,
    iframe('drill=late-write&embed=1', 'sandbox="allow-scripts"'),
  );
  await eventually(async () => assert.equal((await heard(page, 'SPLICE.getState')).length, 1));
  const [{ message_id }] = await heard(page, 'SPLICE.getState');
  await page.evaluate(({ message_id, progress }) => {
    document.querySelector('iframe').contentWindow.postMessage({ subject: 'SPLICE.getState.response', message_id, state: { progress } }, '*');
  }, { message_id, progress });
  await page.frameLocator('iframe').getByText('Not this time').waitFor();
}));

test('no parameter gets into the page as HTML', withPages(async (open, blank) => {
  const attack = encodeURIComponent('"><img src=x onerror="window.hacked=1">');
  for (const query of [`lab=${attack}`, `do=${attack}`, `t=${attack}`, `with=${attack}`, `drill=${attack}`, `drill=late-write&then=${attack}`, `hash=${attack}`, `embed=1&controls=${attack}`, `embed=1&lab=${attack}`]) {
    const page = await blank();
    await page.goto(`${ADDRESS}?${query}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    assert.equal(await page.locator('img').count(), 0, query);
    assert.equal(await page.evaluate(() => window.hacked), undefined, query);
    await page.close();
  }
}));
