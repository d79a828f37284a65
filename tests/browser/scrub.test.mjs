// Moving through time: every instant looks the same from wherever one comes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  answer, button, commandLine, cursor, drawing, drawn, eventually, pseudoRandom, queryOf, scrubber, seek, timeline,
  withPages, world, worldFacts,
} from './lab.mjs';

const STORY = ['4 pause A 15', '21 crash B', '47 crash leader'];
const OTHER = ['4 pause A 8', '0 fence off', '16 step-wall B -3', '30 crash leader', '35 restart n1'];
const BOOKMARKS = ['S1', 'S2', 'S3', 'S4', 'S5', 'S6'];

/** A time as the page tells it: to 0.01 s, with one decimal at least. */
const told = (seconds) => {
  const hundredths = Math.round(seconds * 100 + 1e-6);
  const text = (hundredths / 100).toFixed(2);
  return text.endsWith('0') ? text.slice(0, -1) : text;
};

/** The rows of the world card, told from a snapshot of the command line. */
function expectedFacts(snapshot) {
  const facts = {};
  for (const [name, worker] of Object.entries(snapshot.workers)) {
    const parts = [worker.state.replace('-', ' ')];
    if (worker.token !== null && worker.stop_time !== null) {
      parts.push(`token ${worker.token}`, `stop ${told(worker.stop_time)}`);
    }
    facts[name] = parts.join(' · ');
  }
  const { key, leader, term, revision } = snapshot.service;
  facts.Key = key ? `${key.holder} · token ${key.token}` : 'nobody holds it';
  facts.Leader = `${leader ?? 'none'} · term ${term} · revision ${revision}`;
  const row = snapshot.store;
  const owner = row.owner_token === null ? 'no owner' : `owner ${row.owner_token}`;
  const off = row.fence_mode === 'off' ? ' (off)' : '';
  facts.Row = `${row.state} · fence ${row.fence}${off} · ${owner} · ${row.indexed ? 'in the index' : 'not in the index'}`;
  const once = row.invoices_charged - row.charged_twice;
  facts.Charged = `${once.toLocaleString('en')} once · ${row.charged_twice.toLocaleString('en')} twice`;
  return facts;
}

function sameFacts(found, snapshot) {
  for (const [name, text] of Object.entries(expectedFacts(snapshot))) {
    if (name === 'D' && found.D === undefined) {
      // D has no row while it has nothing to do with the story.
      assert.equal(snapshot.workers.D.state, 'idle');
    } else {
      assert.ok(found[name].startsWith(text), `${name} is “${found[name]}”, not “${text}”, at ${snapshot.t}`);
    }
  }
}

const snapshotOf = (list, at) =>
  commandLine('snapshot', 'billing-story', String(at), '--plain', ...list.flatMap((sentence) => ['--do', sentence]));

const look = (page) =>
  page.evaluate(() => {
    const facts = { heading: document.querySelector('.world h2').textContent };
    for (const name of document.querySelectorAll('.world dt')) {
      facts[name.textContent] = name.nextElementSibling.textContent;
    }
    facts.flight = document.querySelector('.in-flight').textContent;
    facts.notes = document.querySelector('svg .lane-notes').textContent;
    facts.said = document.querySelector('input.scrubber').getAttribute('aria-valuetext');
    return facts;
  });

for (const list of [STORY, OTHER]) {
  test(`instants look the same forward, backward and at random: ${list.join('; ')}`, withPages(async (open) => {
    const page = await open(queryOf(list));
    await seek(page, 60);
    const random = pseudoRandom(20260928);
    const instants = [0, 3, 13, 13.01, 13.02, 14, 19, 19.05, 19.1, 21, 29.51, 40.01, 47, 49.11, 52, 60];
    while (instants.length < 40) {
      instants.push(Math.round(random.next().value * 6000) / 100);
    }
    const inOrder = [...new Set(instants)].sort((a, b) => a - b);
    const seen = new Map();
    for (const at of inOrder) {
      await seek(page, at);
      seen.set(at, await look(page));
      assert.equal(seen.get(at).heading, `The world at ${told(at)} s`);
    }
    assert.ok(new Set([...seen.values()].map((facts) => JSON.stringify({ ...facts, heading: '', said: '' }))).size > 20);
    const shuffled = inOrder.map((at) => [random.next().value, at]).sort((a, b) => a[0] - b[0]).map(([, at]) => at);
    for (const at of [...inOrder].reverse().concat(shuffled)) {
      await seek(page, at);
      assert.deepEqual(await look(page), seen.get(at), `at ${at} s`);
    }
    for (const at of inOrder) {
      sameFacts(seen.get(at), await snapshotOf(list, at));
    }
  }));
}

for (const [what, forward, backward, least] of [
  ['events', 'Next event', 'Previous event', 80],
  ['beats', 'Next beat', 'Previous beat', 23],
]) {
  test(`stepping by ${what} to the end and back to the start visits the same instants`, withPages(async (open) => {
    const page = await open();
    await answer(page);
    await button(page, 'To the start').click();
    const walk = async (name, end) => {
      const seen = [await look(page)];
      // Pressed as a script presses it: a hundred presses by the pointer would take long.
      const press = await button(page, name).elementHandle();
      while (seen.at(-1).heading !== `The world at ${end}`) {
        assert.ok(seen.length < 500, 'it never arrives');
        await press.evaluate((button) => button.click());
        seen.push(await look(page));
      }
      return seen;
    };
    const there = await walk(forward, '60.0 s');
    const back = await walk(backward, '0.0 s');
    assert.deepEqual(back.reverse(), there);
    assert.ok(there.length > least, `${there.length} instants`);
    // Further is nowhere.
    await button(page, backward).click();
    assert.equal(await cursor(page), '0.0 s');
  }));
}

test('the beats are those of the story, in their order', withPages(async (open) => {
  const page = await open();
  await answer(page);
  await button(page, 'To the start').click();
  const beats = new Set([/beat (\d+) of 24/.exec(await scrubber(page).getAttribute('aria-valuetext'))?.[1]]);
  while ((await cursor(page)) !== '60.0 s') {
    await button(page, 'Next beat').click();
    beats.add(/beat (\d+) of 24/.exec(await scrubber(page).getAttribute('aria-valuetext'))?.[1]);
  }
  const numbers = [...beats].filter(Boolean).map(Number);
  // Two beats at one instant are one step; each is told at its time.
  assert.ok(numbers.length >= 22, numbers.join(' '));
  assert.deepEqual(numbers, [...numbers].sort((a, b) => a - b));
  assert.equal(numbers.at(-1), 24);
}));

test('the bookmarks S1 to S6 lead to the snapshots of the command line', withPages(async (open) => {
  const page = await open();
  const group = page.getByRole('group', { name: 'Snapshots' });
  // What would give the answer away is not there before it.
  assert.deepEqual(await group.getByRole('button').allTextContents(), ['S1', 'S2']);
  await answer(page);
  assert.deepEqual(await group.getByRole('button').allTextContents(), BOOKMARKS);
  for (const name of [...BOOKMARKS, ...[...BOOKMARKS].reverse()]) {
    await group.getByRole('button', { name, exact: true }).click();
    await eventually(async () =>
      assert.equal(await group.getByRole('button', { name, exact: true }).getAttribute('aria-pressed'), 'true'));
    const snapshot = await commandLine('snapshot', 'billing-story', name);
    const facts = await worldFacts(page);
    assert.equal(facts.heading, `The world at ${told(snapshot.t)} s`);
    sameFacts(facts, snapshot);
    assert.ok((await world(page).locator('.shows').innerText()).length > 20, `nothing says what ${name} shows`);
  }
}));

test('the lock nodes show what is in the log and what only in memory', withPages(async (open) => {
  const page = await open();
  await answer(page);
  await page.getByRole('group', { name: 'Snapshots' }).getByRole('button', { name: 'S5' }).click();
  await page.getByText('Lock nodes: log and memory').click();
  const snapshot = await commandLine('snapshot', 'billing-story', 'S5');
  await world(page).getByRole('heading', { name: `n1: down, term ${snapshot.service.nodes.n1.term}` }).waitFor();
  await world(page).getByRole('heading', { name: 'n2: leader, term 2' }).waitFor();
  const deadline = Object.values(snapshot.service.nodes.n2.memory.deadlines)[0];
  await world(page).getByText(`until ${told(deadline)}`).waitFor();
}));

test('comparing two instants marks what changed, and nothing else', withPages(async (open) => {
  const page = await open();
  await answer(page);
  const bookmark = (name) => page.getByRole('group', { name: 'Snapshots' }).getByRole('button', { name }).click();
  await bookmark('S4');
  const there = await worldFacts(page);
  await bookmark('S2');
  const here = await worldFacts(page);
  await button(page, 'Compare from here').click();
  await page.getByRole('button', { name: 'Stop comparing with 14.0 s' }).waitFor();
  assert.equal(await world(page).locator('.changed').count(), 0);
  await bookmark('S4');
  await drawn(page);
  const rows = await world(page).evaluate((card) =>
    [...card.querySelectorAll('dt')].map((name) => {
      const value = name.nextElementSibling;
      return {
        name: name.textContent,
        now: value.firstChild.textContent,
        was: value.querySelector('.was')?.textContent ?? null,
        marked: value.classList.contains('changed'),
      };
    }));
  for (const { name, now, was, marked } of rows) {
    assert.equal(now, there[name]);
    const changed = there[name] !== here[name];
    assert.equal(marked, changed, name);
    assert.equal(was, changed ? `at 14.0: ${here[name]}` : null, name);
  }
  assert.ok(rows.some((row) => row.marked) && rows.some((row) => !row.marked));
  await page.getByRole('button', { name: 'Stop comparing with 14.0 s' }).click();
  await eventually(async () => assert.equal(await world(page).locator('.was').count(), 0));
}));

test('zoom keeps the cursor, in time and on the screen', withPages(async (open) => {
  const page = await open();
  await answer(page);
  await seek(page, 19.05);
  const whole = await drawing(page);
  const facts = await worldFacts(page);
  const place = () => page.locator('.cursor-line').evaluate((line) => line.getBoundingClientRect().x);
  const begun = await place();
  for (let zoom = 0; zoom < 5; zoom += 1) {
    const before = await drawing(page);
    await button(page, 'Zoom in').click();
    await drawn(page);
    assert.notEqual(await drawing(page), before);
    assert.ok(Math.abs((await place()) - begun) < 1.5, `the cursor moves from ${begun} to ${await place()}`);
    assert.deepEqual(await worldFacts(page), facts);
  }
  // A look at what 1 ms does not hide: a step moves the view along.
  await button(page, 'To the end').click();
  await drawn(page);
  const box = await timeline(page).boundingBox();
  const at = await place();
  assert.ok(at > box.x && at <= box.x + box.width, 'the cursor is outside the drawing');
  await seek(page, 19.05);
  for (let zoom = 0; zoom < 7; zoom += 1) {
    await button(page, 'Zoom out').click();
  }
  await drawn(page);
  assert.equal(await drawing(page), whole);
  for (let zoom = 0; zoom < 30; zoom += 1) {
    await button(page, 'Zoom in').click();
  }
  assert.deepEqual(await worldFacts(page), facts);
  await button(page, 'Whole story').click();
  await drawn(page);
  assert.equal(await drawing(page), whole);
}));

test('the pointer moves the cursor in the drawing, and drags it', withPages(async (open) => {
  const page = await open();
  await answer(page);
  const x = (at) => page.locator('.cursor-line').evaluate((line, at) => {
    // The plot's edges, by two known places of the cursor's scale.
    const svg = line.ownerSVGElement;
    const [left, right] = [112, svg.viewBox.baseVal.width - 16];
    return svg.getBoundingClientRect().left + left + (at / 60) * (right - left);
  }, at);
  const y = (await timeline(page).boundingBox()).y + 150;
  await page.mouse.click(await x(30), y);
  await eventually(async () => assert.ok(Math.abs(parseFloat(await cursor(page)) - 30) < 0.1, await cursor(page)));
  await page.mouse.move(await x(30), y);
  await page.mouse.down();
  await page.mouse.move(await x(10), y, { steps: 5 });
  await eventually(async () => assert.ok(Math.abs(parseFloat(await cursor(page)) - 10) < 0.1, await cursor(page)));
  await page.mouse.up();
  await page.mouse.move(await x(50), y);
  await drawn(page);
  assert.ok(Math.abs(parseFloat(await cursor(page)) - 10) < 0.1, 'it is dragged on after the button went up');
}));

test('an event of the list leads to its instant, and the list marks it', withPages(async (open) => {
  const page = await open();
  await answer(page);
  await page.getByRole('combobox', { name: 'Show events of' }).selectOption('the store');
  const event = page.getByRole('button', { name: /B raises the fence from 7 to 12/ });
  await event.click();
  await eventually(async () => assert.equal(await event.getAttribute('aria-current'), 'step'));
  assert.equal(await cursor(page), '13.6 s');
  const machines = await page.locator('.event-machine').allTextContents();
  assert.deepEqual([...new Set(machines)], ['store']);
  const count = machines.length;
  await page.getByRole('checkbox', { name: 'with heartbeats and single messages' }).check();
  await eventually(async () => assert.ok((await page.locator('.event-machine').count()) > count));
}));
