// Every lab of the course: it opens, shows what the command line computes, and can be reached.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { browser, button, commandLine, drawn, entries, eventually, hash, listOfLabs, withPages } from './lab.mjs';

const LABS = await listOfLabs();
const RUNNABLE = LABS.filter((lab) => lab.runs);

/** Waits until a lab, or a page without a run, can be used. */
async function opened(page, lab) {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByRole('heading', { name: `Part ${lab.part} of 12` }).waitFor();
  if (lab.runs) {
    await button(page, 'Play').waitFor();
  }
}

async function openLab(blank, lab, more = '', options = {}) {
  const page = await blank(options);
  await page.goto(`${process.env.LEASE_LAB_URL}?lab=${lab.id}${more}`);
  if (lab.id === 'billing-story' && more === '') {
    await button(page, 'Play').waitFor();
  } else {
    await opened(page, lab);
  }
  return page;
}

/** How far the page is wider than the window. */
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

test('there are many labs, in every part', () => {
  assert.ok(LABS.length > 10, `${LABS.length} labs`);
});

for (const lab of LABS) {
  test(`${lab.id} opens, as the command line runs it, also on a narrow screen and in the dark`, withPages(async (open, blank) => {
    const page = await openLab(blank, lab);
    assert.ok((await overflow(page)) <= 0, 'it is wider than the window');
    if (lab.runs) {
      const { hash: expected } = await commandLine('run', lab.id, '--format', 'json');
      assert.equal(await hash(page), expected);
    }
    const narrow = await openLab(blank, lab, '', { viewport: { width: 320, height: 700 }, colorScheme: 'dark' });
    assert.ok((await overflow(narrow)) <= 0, 'it is wider than 320 px');
  }));
}

test('every lab is in the contents, and the way through them is complete', withPages(async (open) => {
  const page = await open();
  const contents = page.getByRole('navigation', { name: 'Contents' });
  const all = await contents.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  const links = all.filter((link) => link.startsWith('?lab='));
  assert.deepEqual(links.map((link) => link.replace('?lab=', '')).sort(), LABS.map((lab) => lab.id).sort());
  // From the first to the last by “Next”.
  await page.goto(`${process.env.LEASE_LAB_URL}${links[0]}`);
  const seen = [];
  for (const [place, link] of links.entries()) {
    const id = link.replace('?lab=', '');
    const lab = LABS.find((lab) => lab.id === id);
    seen.push(id);
    if (id === 'billing-story') {
      // The first screen is the small module’s; its neighbours are in the contents.
      if (place + 1 < links.length) {
        await page.goto(`${process.env.LEASE_LAB_URL}${links[place + 1]}`);
      }
      continue;
    }
    await opened(page, lab);
    if (place + 1 < links.length) {
      await page.getByRole('link', { name: /^Next: / }).click();
      await page.waitForURL((url) => url.search.startsWith(links[place + 1]));
    }
  }
  assert.equal(seen.length, LABS.length);
}));

test('a variant changes the run, and the lab can be had back', withPages(async (open, blank) => {
  const page = await openLab(blank, LABS.find((lab) => lab.id === 'zombie'));
  const before = await hash(page);
  const own = await entries(page);
  await button(page, 'The fence is off').click();
  await eventually(async () => assert.notEqual(await hash(page), before));
  assert.equal(await button(page, 'The fence is off').getAttribute('aria-pressed'), 'true');
  assert.ok((await entries(page)).includes('0 fence off'));
  await button(page, 'as it is').click();
  await eventually(async () => assert.equal(await hash(page), before));
  assert.deepEqual(await entries(page), own);
}));

test('a setting of a lab is chosen, and a bad one gets a sentence', withPages(async (open, blank) => {
  const page = await openLab(blank, LABS.find((lab) => lab.id === 'wall-step'));
  const settings = page.getByRole('region', { name: 'Settings of this lab' });
  const before = await hash(page);
  await settings.getByRole('combobox').first().selectOption({ index: 1 });
  await eventually(async () => assert.notEqual(await hash(page), before));
  assert.ok((await entries(page)).some((entry) => entry.startsWith('0 set ')), String(await entries(page)));
}));

test('two runs stand side by side, with the first difference', withPages(async (open, blank) => {
  const page = await openLab(blank, LABS.find((lab) => lab.id === 'zombie'));
  await page.getByRole('combobox', { name: 'Compare with' }).selectOption({ label: 'fence off' });
  await page.getByText(/^Both runs are alike until/).waitFor();
  const table = page.getByRole('table', { name: 'Both runs at their end' });
  assert.match(await table.innerText(), /every invoice charged at most once\s+holds\s+broken/);
  // The link opens the same comparison.
  await eventually(async () => assert.match(page.url(), /with=/));
  await page.reload();
  await page.getByText(/^Both runs are alike until/).waitFor();
}));

test('the story goes on in another service without losing its list', withPages(async (open) => {
  const page = await open('?t=19.05');
  await page.locator('#intervene summary').click();
  await button(page, 'Redlock').click();
  await page.getByRole('heading', { name: /^Part 4 of 12/ }).waitFor();
  assert.ok((await entries(page)).includes('0 service redlock'), String(await entries(page)));
  const expected = await commandLine('run', 'billing-story', '--do', '0 service redlock', '--format', 'json');
  assert.equal(await hash(page), expected.hash);
}));

test('a calculator works its results out again, and shows the numbers in the formula', withPages(async (open, blank) => {
  const page = await openLab(blank, LABS.find((lab) => lab.id === 'margin'));
  const calculator = page.locator('.calculator');
  const before = await calculator.innerText();
  await calculator.getByRole('slider').first().focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await eventually(async () => assert.notEqual(await calculator.innerText(), before));
  assert.match(await calculator.innerText(), /[0-9].*[−+×÷=]/);
}));

test('a table names its sources', withPages(async (open, blank) => {
  const page = await openLab(blank, LABS.find((lab) => lab.id === 'compare'));
  const sources = page.locator('.sources a');
  assert.ok((await sources.count()) > 3);
  for (const address of await sources.evaluateAll((links) => links.map((link) => link.href))) {
    assert.match(address, /^https:\/\//);
  }
  const cell = page.locator('.facts sup a').first();
  const target = await cell.getAttribute('href');
  assert.equal(await page.locator(target).count(), 1);
}));

/** One lab for each sort of drawing and table. */
const OF_EACH_SORT = ['margin', 'fence-s3', 'claim-rules', 'orphan', 'redlock', 'compare', 'recap', 'checklist'];

test('no sort of lab has a fault that axe can find', withPages(async (open, blank) => {
  for (const lab of LABS.filter((lab) => OF_EACH_SORT.includes(lab.id))) {
    const page = await openLab(blank, lab);
    await drawn(page);
    const { violations } = await new AxeBuilder({ page }).analyze();
    const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target).join(', ')}`);
    assert.deepEqual(told, [], lab.id);
    await page.close();
  }
}));

test('the first screen loads neither the module of every lab nor that of graphs', withPages(async (open, blank) => {
  const page = await blank();
  const loaded = [];
  page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
  await page.goto(process.env.LEASE_LAB_URL);
  await button(page, 'Play').waitFor();
  await drawn(page);
  assert.ok(!loaded.some((path) => /\/(labs|chart)-/.test(path)), loaded.join(' '));
  assert.ok(RUNNABLE.length > 0 && (await browser()).isConnected());
}));
