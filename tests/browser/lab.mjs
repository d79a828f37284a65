// What the browser tests share: the browser, a page that must not complain, and short names for its parts.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';

const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** How long a condition may take to come true; generous, because test machines can be busy. */
const PATIENCE_MS = 10_000;

function fromEnvironment(name) {
  const value = process.env[name];
  assert.ok(value, `${name} is not set: run the tests with \`cargo xtask test --browser\``);
  return value;
}

/** The page's address, with a slash at its end. */
export const ADDRESS = fromEnvironment('LEASE_LAB_URL');

let launching;

/** The one browser of a test file, with a profile of its own. */
export function browser() {
  launching ??= chromium.launch({ executablePath: fromEnvironment('LEASE_LAB_CHROMIUM'), args: ARGUMENTS });
  return launching;
}

export async function closeBrowser() {
  if (launching) {
    await (await launching).close();
  }
}

let closesAtTheEnd = false;

/**
 * A test around pages. `body` gets `open(query, options)`, which opens the page and waits until it can be used;
 * the test fails in the end if any page threw an error or wrote one to the console.
 *
 * Options are those of a Playwright context, and `prepare(page)`, called before the page is loaded.
 * `expected` are patterns of complaints that the test provokes.
 */
export function withPages(body, expected = []) {
  if (!closesAtTheEnd) {
    closesAtTheEnd = true;
    after(closeBrowser);
  }
  return async () => {
    const complaints = [];
    const pages = [];
    const blank = async ({ prepare, ...options } = {}) => {
      const page = await (await contextFor(options)).newPage();
      pages.push(page);
      page.on('pageerror', (error) => complaints.push(`error: ${error.stack ?? error}`));
      page.on('console', (message) => {
        if (message.type() === 'error') {
          complaints.push(`console: ${message.text()}`);
        }
      });
      await prepare?.(page);
      return page;
    };
    const open = async (query = '', options = {}) => {
      const page = await blank(options);
      await page.goto(`${ADDRESS}${query}`);
      await ready(page);
      return page;
    };
    try {
      await body(open, blank);
    } finally {
      await Promise.all(pages.map(close));
    }
    const unexpected = complaints.filter((complaint) => !expected.some((pattern) => pattern.test(complaint)));
    assert.deepEqual(unexpected, [], 'the page complained');
  };
}

const contexts = new Map();

/** One context for all pages of a file that want the same, so that what never changes is loaded once. */
function contextFor(options) {
  const key = JSON.stringify(options);
  if (!contexts.has(key)) {
    const wanted = { viewport: { width: 1280, height: 900 }, ...options };
    contexts.set(key, browser().then((browser) => browser.newContext(wanted)).then((context) => {
      context.setDefaultTimeout(PATIENCE_MS);
      return context;
    }));
  }
  return contexts.get(key);
}

/** Closes a page and leaves nothing behind for the next one. */
async function close(page) {
  // A page whose storage is refused has left nothing there.
  await page.evaluate(() => localStorage.clear()).catch(() => {});
  await page.close();
}

/** Waits until the page, or a frame, can be used. */
export async function ready(page) {
  await page.getByRole('button', { name: 'Play' }).waitFor();
  await page.getByRole('heading', { name: /^The world at/ }).waitFor();
}

/** Tries until it does not fail any more. */
export async function eventually(check) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await check();
    } catch (failure) {
      if (Date.now() > end) {
        throw failure;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** Waits until the page has drawn what was asked of it. */
export function drawn(page) {
  return page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

// Parts of the page.

export const scrubber = (page) => page.getByRole('slider', { name: 'Time' });
export const timeline = (page) => page.getByRole('group', { name: /^Timeline/ });
export const eventList = (page) => page.getByRole('list', { name: 'Events in order of time' });
export const verdicts = (page) => page.getByRole('list', { name: 'What must never happen, and whether it did' });
export const world = (page) => page.getByRole('region', { name: /^The world at/ });
export const changes = (page) => page.getByRole('region', { name: /^(What you changed|The story’s own faults)$/ });
export const clocks = (page) => page.getByRole('region', { name: 'Two clocks and a stop time' });
export const panel = (page) => page.locator('#intervene');
/** The region that speaks after a step. */
export const announcer = (page) => page.locator('[role=status].visually-hidden');
export const button = (page, name) => page.getByRole('button', { name, exact: true });

// What the page shows.

/** The hash of the trace that is shown. */
export const hash = (page) => page.evaluate(() => window.leaseLab.hash);
/** The drawing without the cursor and what belongs to it. */
export const drawing = (page) => page.locator('svg .drawing').innerHTML();
/** All text of the timeline. */
export const timelineText = (page) => timeline(page).evaluate((element) => element.textContent);
export const eventTexts = (page) => eventList(page).getByRole('listitem').allTextContents();
export const verdictTexts = (page) => verdicts(page).getByRole('listitem').allTextContents();
/** The world card's rows as an object of texts, with the heading and what is on the way. */
export const worldFacts = (page) =>
  page.locator('.world').evaluate((card) => {
    const facts = { heading: card.querySelector('h2').textContent };
    for (const name of card.querySelectorAll('dt')) {
      facts[name.textContent] = name.nextElementSibling.textContent;
    }
    facts.flight = card.querySelector('.in-flight').textContent;
    return facts;
  });
/** The sentences of the list of interventions. */
export const entries = (page) => page.locator('.entries .entry-text').allTextContents();
/** Graphs are drawn by a module of their own once they come near the visible part of the page. */
export async function graphDrawn(page) {
  await page.locator('canvas').scrollIntoViewIfNeeded();
  await eventually(async () => assert.notEqual(await page.locator('canvas').evaluate((canvas) => canvas.width), 300));
  await drawn(page);
}
export async function canvasPicture(page) {
  await graphDrawn(page);
  return page.locator('canvas').evaluate((canvas) => canvas.toDataURL());
}
export const clockTable = (page) => clocks(page).getByRole('table').innerText();
/** The visible cursor, such as "19.0 s". */
export const cursor = async (page) => (await world(page).getByRole('heading', { level: 2 }).innerText()).replace('The world at ', '');

// What a person does.

/** Moves the scrubber; the page's times are shown as the scrubber's value is rounded, to 0.01 s. */
export async function seek(page, seconds) {
  await scrubber(page).fill(String(seconds));
  await drawn(page);
}

export async function openPanel(page) {
  await panel(page).locator('summary').click();
  await panel(page).getByRole('button', { name: 'Crash' }).waitFor();
}

/** Answers the question, so that everything may be seen. */
export async function answer(page, option = /^Refuse it/) {
  await page.getByRole('button', { name: option }).click();
  await page.getByText(/^(Yes|No|Not in this run)\. /).waitFor();
}

/** The trace and the end of a run by the command line, as an object. */
export async function commandLine(...parts) {
  const { stdout } = await promisify(execFile)(fromEnvironment('LEASE_LAB_CLI'), parts, { maxBuffer: 1 << 28 });
  return JSON.parse(stdout);
}

/** Every lab of the command line’s list: id, part, and whether it has a run. */
export async function listOfLabs() {
  const { stdout } = await promisify(execFile)(fromEnvironment('LEASE_LAB_CLI'), ['list']);
  return stdout.trim().split('\n').map((line) => {
    const [, id, part, rest] = line.match(/^(\S+)\s+part (\d+)\s+(.*)$/);
    return { id, part: Number(part), runs: !rest.endsWith(' (page)') };
  });
}

/** What the command line says to the file of a predict drill. */
export async function checkedDrill(id) {
  const file = fileURLToPath(new URL(`../../crates/drills/content/predict/${id}.toml`, import.meta.url));
  const { stdout } = await promisify(execFile)(fromEnvironment('LEASE_LAB_CLI'), ['drills', 'check', file]);
  return stdout;
}

/** What the command line says to a complete list of interventions; without one, to the scenario's own. */
export function runByCommandLine(list) {
  const own = list === undefined ? [] : ['--plain', ...list.flatMap((sentence) => ['--do', sentence])];
  return commandLine('run', 'billing-story', ...own, '--format', 'json');
}

/** The query that opens a complete list of interventions. */
export const queryOf = (list, more = '') => `?do=${encodeURIComponent(list.join('; '))}${more}`;

/** Numbers that look random and are the same each time. */
export function* pseudoRandom(seed) {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}
