// Accessible to everybody, in every state and at every width.

import { AxeBuilder } from '@axe-core/playwright';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  answer, button, changes, clocks, clockTable, cursor, drawn, entries, eventually, openPanel, panel, queryOf,
  runByCommandLine, seek, withPages, world,
} from './lab.mjs';

const STORY = ['4 pause A 15', '21 crash B', '47 crash leader'];
const LONG = [
  ...STORY,
  '3.123456 partition A,B,C,D,n1,n2 | n3,store,sweeper',
  '12.654321 partition A,n1 | B,n2 | C,n3,sweeper,store | D',
  '59.999999 delay sweeper store 123456789.123456',
];
const PHONE = { viewport: { width: 320, height: 640 } };
/** The whole page at 200 % is the page at half its width with twice the pixels. */
const TWICE = { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 };

async function violations(page) {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    .options({ resultTypes: ['violations'] })
    .analyze();
  return violations.map(({ id, nodes }) => ({
    id,
    where: nodes.map((node) => `${node.target.join(' ')}: ${node.failureSummary.replace(/\s+/g, ' ')}`).slice(0, 5),
  }));
}

const everythingOpen = async (page) => {
  // A link to a changed story asks nothing any more.
  if (await page.getByRole('button', { name: /^Refuse it/ }).isVisible()) await answer(page);
  await openPanel(page);
  await page.getByText('Lock nodes: log and memory').click();
  await world(page).getByRole('heading', { name: /^n1: / }).waitFor();
};

for (const { state, query = '', options = {}, prepare = async () => {} } of [
  { state: 'before the answer' },
  { state: 'after the right answer', prepare: (page) => answer(page) },
  { state: 'after a wrong answer', prepare: (page) => answer(page, /^Record it/) },
  { state: 'with the panel and the lock nodes open', prepare: everythingOpen },
  { state: 'in the dark, with everything open', query: '?theme=dark', prepare: everythingOpen },
  { state: 'on a dark system', options: { colorScheme: 'dark' }, prepare: (page) => answer(page) },
  { state: '320 px wide', options: PHONE, prepare: (page) => answer(page) },
  { state: '320 px wide, dark, with everything open', query: '?theme=dark', options: PHONE, prepare: everythingOpen },
  { state: 'at 200 %', options: TWICE, prepare: everythingOpen },
  {
    state: 'with the help open',
    prepare: async (page) => {
      await page.getByRole('banner').getByRole('button', { name: 'Keys' }).click();
      await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    },
  },
  { state: 'with a notice', query: '?t=99&lab=nowhere', prepare: (page) => page.getByText(/“nowhere”/).waitFor() },
  {
    state: 'with the ghost, in the dark',
    query: '?theme=dark&ghost=fence-off&t=20',
    prepare: (page) => page.getByText(/^With the fence off instead/).waitFor(),
  },
  {
    state: 'while an entry is edited with a mistake, one is off, and instants are compared',
    prepare: async (page) => {
      await answer(page);
      await button(page, 'Compare from here').click();
      await seek(page, 40);
      await button(page, 'Switch off 47 crash leader').click();
      await button(page, 'Switch on 47 crash leader').waitFor();
      await button(page, 'Edit 21 crash B').click();
      await changes(page).getByRole('textbox').fill('21 crush B');
      await button(page, 'Save').click();
      await changes(page).getByRole('alert').waitFor();
    },
  },
  { state: 'with the fence off and charged twice', query: queryOf([...STORY, '0 fence off'], '&t=20') },
]) {
  test(`axe finds nothing ${state}`, withPages(async (open) => {
    const page = await open(query, options);
    await prepare(page);
    await drawn(page);
    assert.deepEqual(await violations(page), []);
  }));
}

test('axe would find something', withPages(async (open) => {
  const page = await open();
  await page.evaluate(() => document.querySelector('canvas').closest('section').append(document.createElement('button')));
  assert.deepEqual((await violations(page)).map(({ id }) => id), ['button-name']);
}));

test('the canvas has a name, and the table beside it the crossings of the run', withPages(async (open) => {
  const list = ['4 pause A 15 vm', '0 rate B 1.25', '16 step-wall B -3'];
  const page = await open(queryOf(list));
  await seek(page, 60);
  const trace = await runByCommandLine(list);
  for (const worker of ['A', 'B']) {
    await clocks(page).getByRole('button', { name: worker, exact: true }).click();
    await page.getByRole('img', { name: `What the clocks of worker ${worker} show against true time; the table below has the crossings.` }).waitFor();
    const graph = page.locator('canvas');
    assert.equal(await graph.getAttribute('role'), 'img');
    await clocks(page).getByRole('table', { name: new RegExp(`clocks of ${worker} reach`) }).waitFor();
    const rows = (await clockTable(page)).split('\n').slice(1).filter((row) => /^\d/.test(row)).map((row) => row.split('\t'));
    const grants = trace.events.filter((event) => event.kind === 'lease-granted' && event.worker === worker);
    assert.deepEqual(rows.map((row) => Number(row[0])), grants.map((grant) => grant.token), worker);
    for (const [token, stop, mono, wall] of rows) {
      assert.ok([token, stop, mono, wall].every((cell) => cell.trim() !== ''), `an empty cell for ${worker}`);
    }
  }
  // B's monotonic clock runs 1.25 times as fast: what it reads as 1 s is 0.8 s.
  const row = (await clockTable(page)).split('\n').find((row) => /^\d/.test(row)).split('\t');
  assert.ok(Math.abs(parseFloat(row[2]) * 1.25 - parseFloat(row[1])) < 0.02, row.join(' '));
}));

test('the table has the crossings of the story: at 11.0 A’s clocks reach its last stop time', withPages(async (open) => {
  const page = await open();
  assert.match(await clockTable(page), /7\s+11\.0\s+11\.0 s\s+11\.0 s/);
  await clocks(page).getByRole('button', { name: 'D', exact: true }).click();
  await clocks(page).getByText('It holds no lease up to here.').waitFor();
}));

/** Everything that is pressed or filled in, if it is smaller than 24 px; a field counts with its label. */
const tooSmall = (page) =>
  page.evaluate(() => {
    const places = document.querySelectorAll('a[href], button, input, select, summary, [tabindex]');
    return [...places]
      .filter((place) => place.checkVisibility({ visibilityProperty: true }) && !place.classList.contains('skip'))
      // In a sentence, the line's height decides.
      .filter((place) => !(place.matches('.link') && getComputedStyle(place).display === 'inline'))
      .map((place) => (/checkbox|radio/.test(place.type) ? place.closest('label') ?? place : place))
      .map((place) => ({ place: place.outerHTML.slice(0, 90), box: place.getBoundingClientRect() }))
      .filter(({ box }) => box.width < 23.99 || box.height < 23.99)
      .map(({ place, box }) => `${box.width.toFixed(1)} × ${box.height.toFixed(1)}: ${place}`);
  });

for (const [where, options] of [['on a desk', {}], ['on a phone', PHONE]]) {
  test(`every target is at least 24 px wide and high ${where}`, withPages(async (open) => {
    const page = await open('?lab=nowhere', options);
    assert.deepEqual(await tooSmall(page), []);
    await everythingOpen(page);
    await button(page, 'Edit 4 pause A 15').click();
    await changes(page).getByRole('textbox').waitFor();
    assert.deepEqual(await tooSmall(page), []);
    await page.getByRole('banner').getByRole('button', { name: 'Keys' }).click();
    assert.deepEqual(await tooSmall(page), []);
  }));
}

/** What sticks out to the right, if the page can be scrolled sideways. */
const sidewaysScroll = (page) =>
  page.evaluate(() => {
    const root = document.documentElement;
    if (root.scrollWidth <= root.clientWidth && document.body.scrollWidth <= root.clientWidth) {
      return [];
    }
    const culprits = [...document.body.querySelectorAll('*')]
      .filter((element) => element.getBoundingClientRect().right > root.clientWidth + 1)
      .map((element) => element.outerHTML.slice(0, 90));
    return [`${root.scrollWidth} > ${root.clientWidth}`, ...culprits.slice(0, 5)];
  });

for (const width of [320, 375, 768, 1440, 2560]) {
  test(`nothing scrolls sideways at ${width} px`, withPages(async (open) => {
    const page = await open(queryOf(LONG, '&t=19'), { viewport: { width, height: 800 } });
    await drawn(page);
    assert.deepEqual(await sidewaysScroll(page), [], 'before the answer');
    await everythingOpen(page);
    await drawn(page);
    assert.deepEqual(await sidewaysScroll(page), [], 'with everything open');
    await button(page, `Edit ${(await entries(page))[0]}`).click();
    await button(page, 'Compare from here').click();
    await seek(page, 50);
    assert.deepEqual(await sidewaysScroll(page), [], 'while editing and comparing');
    // The drawing fits its place and is not cut off.
    const [drawing, place] = await page.evaluate(() => [
      document.querySelector('.timeline svg').getBoundingClientRect().width,
      document.querySelector('.timeline').clientWidth,
    ]);
    assert.ok(drawing <= place + 0.5, `the drawing is ${drawing} px wide in ${place}`);
  }));
}

test('nothing scrolls sideways with a long notice and a mistake on a phone', withPages(async (open) => {
  const page = await open(`?lab=${'x'.repeat(300)}&do=${'y'.repeat(300)}&view=${'z'.repeat(100)}`, PHONE);
  assert.deepEqual(await sidewaysScroll(page), []);
  await openPanel(page);
  const sentence = panel(page).getByRole('textbox', { name: /^An intervention/ });
  await sentence.fill(`5 ${'w'.repeat(200)} ${'v'.repeat(200)}`);
  await sentence.press('Enter');
  await panel(page).getByRole('alert').waitFor();
  assert.deepEqual(await sidewaysScroll(page), []);
}));

test('text at 200 % is neither cut off nor sideways', withPages(async (open) => {
  const page = await open('', TWICE);
  await everythingOpen(page);
  await drawn(page);
  assert.deepEqual(await sidewaysScroll(page), []);
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll('button, label, h1, h2, h3, p, dd, dt, th, td, legend, summary')]
      .filter((element) => element.checkVisibility() && !element.closest('.visually-hidden'))
      .filter((element) => {
        const style = getComputedStyle(element);
        return style.overflowX !== 'visible' && style.display !== 'inline'
          && (element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1);
      })
      .map((element) => element.outerHTML.slice(0, 90)));
  assert.deepEqual(cut, []);
}));

test('with reduced motion nothing moves by itself', withPages(async (open) => {
  const page = await open('', { reducedMotion: 'reduce' });
  await answer(page);
  await openPanel(page);
  const moving = await page.evaluate(() => ({
    running: document.getAnimations().map((animation) => animation.effect.target?.className),
    declared: [...document.querySelectorAll('*')]
      .filter((element) => {
        const style = getComputedStyle(element);
        const longest = (list) => Math.max(...list.split(',').map((time) => parseFloat(time) * (/ms/.test(time) ? 1 : 1000)));
        return longest(style.transitionDuration) > 1 || (style.animationName !== 'none' && longest(style.animationDuration) > 1);
      })
      .map((element) => element.outerHTML.slice(0, 80)),
    smooth: getComputedStyle(document.documentElement).scrollBehavior,
  }));
  assert.deepEqual(moving, { running: [], declared: [], smooth: 'auto' });
  // Nothing plays unless it is asked to; asked to, it does.
  const then = await cursor(page);
  await drawn(page);
  assert.equal(await cursor(page), then);
  await button(page, 'Play').click();
  await eventually(async () => assert.notEqual(await cursor(page), then));
  await button(page, 'Pause').click();
}));

test('with forced colours the drawing is still there', withPages(async (open) => {
  const page = await open('', { forcedColors: 'active' });
  await answer(page);
  await page.getByText('acts in time').first().waitFor();
  // Bars and lines are drawn in colours that differ from the ground.
  const [ground, line] = await page.evaluate(() => [
    getComputedStyle(document.body).backgroundColor,
    getComputedStyle(document.querySelector('.cursor-line')).stroke,
  ]);
  assert.notEqual(line, ground);
}));

test('headings, landmarks and the language are there', withPages(async (open) => {
  const page = await open();
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'en');
  assert.equal(await page.title(), 'Lease Lab');
  assert.equal(await page.getByRole('main').count(), 1);
  assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1);
  const levels = await page.getByRole('heading').evaluateAll((all) => all.map((heading) => Number(heading.tagName[1])));
  levels.forEach((level, at) => assert.ok(at === 0 || level <= levels[at - 1] + 1, `a level is left out: ${levels}`));
}));
