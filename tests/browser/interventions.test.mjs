// Everything that can be changed in the panel, and the list of what was changed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  announcer, answer, button, canvasPicture, changes, clocks, clockTable, cursor, drawing, drawn, entries, eventList,
  eventTexts, eventually, hash, openPanel, panel, queryOf, seek, timelineText, verdictTexts, withPages, worldFacts,
} from './lab.mjs';

const STORY = ['4 pause A 15', '21 crash B', '47 crash leader'];

// How the panel is used.

const machine = (name) => (in_) => in_.getByRole('combobox', { name: 'Machine' }).selectOption(name);
const path = (from, to) => async (in_) => {
  await in_.getByRole('combobox', { name: 'Next message from' }).selectOption(from);
  await in_.getByRole('combobox', { name: 'to', exact: true }).selectOption(to);
};
const field = (name, value) => (in_) => in_.getByRole('textbox', { name, exact: true }).fill(value);
const tick = (name) => (in_) => in_.getByRole('checkbox', { name }).check();
const press = (name) => (in_) => in_.getByRole('button', { name, exact: true }).click();
const rule = (group, name) => (in_) =>
  in_.getByRole('group', { name: group, exact: true }).getByRole('button', { name, exact: true }).click();
const fromNow = (in_) => in_.getByRole('radio', { name: /^from .* s on$/ }).check();
const span = (name, value) => async (in_) => {
  await in_.getByRole('textbox', { name }).fill(value);
  await in_.getByRole('textbox', { name }).press('Tab');
};

/**
 * Every kind of intervention: what is added to the list, from which instant, by which steps, and a sentence of the
 * trace that tells it and that was not there before. `before` is added to the story first. It shows in the drawing
 * unless it `shows` elsewhere: on the clock graph of a worker, or nowhere but in the list of events.
 */
const INTERVENTIONS = [
  { adds: '2.37 crash A', steps: [machine('A'), press('Crash')], tells: /10\.52.*B acquires the lock/ },
  { adds: '30.37 crash leader', steps: [machine('leader'), press('Crash')], tells: /30\.37.*n1 dies/ },
  { adds: '30.37 crash store', steps: [machine('store'), press('Crash')], tells: /30\.37.*store dies/ },
  { adds: '9.37 crash sweeper', steps: [machine('sweeper'), press('Crash')], tells: /9\.37.*sweeper dies/ },
  { adds: '22.37 restart B', steps: [machine('B'), press('Restart')], tells: /22\.37.*B starts as a new process/ },
  { adds: '15.37 isolate B', steps: [machine('B'), press('Isolate')], tells: /15\.37.*B is cut off from everyone/ },
  {
    adds: '15.37 pause B 5',
    steps: [machine('B'), field('Length of the pause in seconds', '5'), press('Pause for')],
    tells: /15\.37.*B’s process freezes for 5\.0 s/,
  },
  {
    adds: '15.37 pause B',
    steps: [machine('B'), field('Length of the pause in seconds', ''), press('Pause for')],
    tells: /15\.37.*B’s process freezes until it is resumed/,
  },
  {
    adds: '15.37 pause B 5.5 vm',
    steps: [machine('B'), field('Length of the pause in seconds', '5.5'), tick(/paused VM/), press('Pause for')],
    tells: /15\.37.*B’s virtual machine freezes for 5\.5 s/,
  },
  { adds: '8.37 resume A', steps: [machine('A'), press('Resume')], tells: /8\.42.*store records A’s chunk 2/ },
  {
    adds: '16.37 step-wall B -3',
    steps: [machine('B'), field('Step of the wall clock in seconds', '-3'), press('Step wall clock by')],
    tells: /16\.37.*B’s wall clock steps by −3\.0 s/,
    shows: 'B',
  },
  {
    adds: '16.37 offset B 3',
    steps: [machine('B'), field('Offset of the wall clock in seconds', '3'), press('Set offset')],
    tells: /16\.37.*B’s wall clock is set 3\.0 s from true time/,
    shows: 'B',
  },
  {
    adds: '14.37 rate B 1.2',
    steps: [machine('B'), field('Rate of both clocks', '1.2'), press('Set rate')],
    tells: /14\.37.*B’s clocks run 1\.2 times as fast/,
  },
  { adds: '5.37 acquire D', steps: [machine('D'), press('Acquire')], tells: /5\.37.*D starts/ },
  { adds: '17.37 release B', steps: [machine('B'), press('Release')], tells: /17\.38.*B releases the lock/ },
  { adds: '0.3 drop A store', steps: [path('A', 'store'), press('Drop it')], tells: /message from A to store is lost/ },
  {
    adds: '0.9 duplicate A store',
    steps: [path('A', 'store'), press('Send it twice')],
    tells: /1\.0.*5,000 customers are charged twice/,
  },
  {
    adds: '0.9 delay A store 20',
    steps: [path('A', 'store'), field('Delay in seconds', '20'), press('Delay it by')],
    tells: /0\.95.*held up for 20\.0 s/,
  },
  {
    adds: '10.37 partition n1 | n2,n3',
    steps: [field('Sides of the partition', 'n1|n2,n3'), press('Partition')],
    tells: /10\.37.*The network splits/,
  },
  {
    before: ['10 partition n1 | n2,n3'],
    adds: '14.37 heal',
    steps: [press('Heal')],
    tells: /14\.37.*The network is whole again/,
  },
  { adds: '0 fence off', at: 15, steps: [rule('Fence', 'off')], tells: /19\.05.*5,000 customers are charged twice/ },
  {
    adds: '15.37 fence off',
    steps: [fromNow, rule('Fence', 'off')],
    tells: /15\.37.*From now on: fence off/,
  },
  {
    before: ['0 fence off'],
    adds: '15.37 fence on',
    steps: [fromNow, rule('Fence', 'on')],
    tells: /19\.05.*store refuses A’s chunk 2/,
  },
  {
    adds: '0 fence reject-equal',
    at: 15,
    steps: [rule('Fence', 'refuse equal tokens too')],
    tells: /1\.0.*its token 7 equals the fence/,
  },
  {
    adds: '0 fence two-step',
    at: 15,
    steps: [rule('Fence', 'check and write in two steps')],
    tells: /19\.05.*5,000 customers are charged twice/,
  },
  {
    adds: '0 raise late',
    at: 15,
    steps: [rule('Who takes over raises the fence', 'late')],
    tells: /13\.9.*B raises the fence from 7 to 12/,
  },
  { adds: '0 sweeper off', at: 15, steps: [rule('Sweeper', 'off')], tells: /0\.0.*From now on: sweeper off/ },
  {
    before: ['0.9 duplicate A store'],
    adds: '0 idempotent on',
    at: 15,
    steps: [rule('Store recognises recorded chunks', 'yes')],
    tells: /1\.0.*store recognises chunk 1 from A/,
  },
  {
    adds: '0 idempotent on',
    at: 15,
    steps: [rule('Store recognises recorded chunks', 'yes')],
    tells: /0\.0.*From now on: idempotent on/,
    shows: 'in the list of events',
  },
  { adds: '0 lease 8', at: 15, steps: [span(/^Lease/, '8')], tells: /must stop at 6\.0/ },
  { adds: '0 renew 2', at: 15, steps: [span(/^Renew every/, '2')], tells: /2\.0.*A renews/ },
  { adds: '0 margin 0', at: 15, steps: [span(/^Margin/, '0')], tells: /must stop at 10\.0/ },
  {
    adds: '13.7 delay B store 0.2',
    at: 15,
    steps: [field('An intervention, such as 5 delay A store 20', ' 13.70 delay  B store 0.20 '), press('Add')],
    tells: /13\.95.*message from B to store is held up for 0\.2 s/,
  },
];

for (const { before = [], adds, at = Number(adds.split(' ')[0]), steps, tells, shows = 'in the drawing' } of INTERVENTIONS) {
  const list = [...STORY, ...before];
  const title = before.length > 0 ? `${adds} after ${before.join('; ')}` : adds;
  test(`${title} is done in the panel at ${at} s`, withPages(async (open) => {
    const page = await open(before.length > 0 ? queryOf(list) : '');
    await seek(page, 60);
    await seek(page, at);
    const worker = shows.length === 1 ? shows : 'A';
    await clocks(page).getByRole('button', { name: worker, exact: true }).click();
    await openPanel(page);
    await drawn(page);
    const look = async () => ({
      hash: await hash(page),
      drawing: await drawing(page),
      picture: await canvasPicture(page),
      events: await eventTexts(page),
      table: await clockTable(page),
    });
    const then = await look();
    assert.ok(!then.events.some((line) => tells.test(line)), `${tells} is told before anything was changed`);

    for (const step of steps) {
      await step(panel(page));
    }
    await eventually(async () => assert.ok((await entries(page)).includes(adds), (await entries(page)).join('; ')));
    await drawn(page);
    const now = await look();
    const text = (await entries(page)).join('; ');
    assert.equal((await entries(page)).length, list.length + 1, text);
    await page.getByRole('heading', { name: 'What you changed' }).waitFor();
    assert.equal(await panel(page).locator('[role=alert]').textContent(), '');
    assert.match(await announcer(page).textContent(), /^Added: /);
    assert.notEqual(now.hash, then.hash);
    assert.ok(now.events.some((line) => tells.test(line)), `${tells} is not told:\n${now.events.join('\n')}`);
    if (shows === 'in the drawing') {
      assert.notEqual(now.drawing, then.drawing, 'it does not show in the drawing');
    } else if (shows.length === 1) {
      assert.notEqual(now.picture, then.picture, 'it does not show on the clock graph');
      assert.notEqual(now.table, then.table, 'it does not show in the table of the clocks');
    }
    // The cursor stays, and the run is the one of that list.
    assert.equal(parseFloat(await cursor(page)), at);
    const same = await page.evaluate(
      (all) => window.leaseLab.run('billing-story', all).hash,
      await entries(page),
    );
    assert.equal(now.hash, same);
  }));
}

test('where something happens at the cursor, a change comes after what is shown', withPages(async (open) => {
  const page = await open();
  await answer(page);
  await seek(page, 14);
  const shown = (await eventTexts(page)).filter((line) => parseFloat(line) <= 14);
  await openPanel(page);
  await panel(page).getByText('at 14.001 s, or from the start').waitFor();
  await machine('store')(panel(page));
  await press('Crash')(panel(page));
  await eventually(async () => assert.ok((await entries(page)).includes('14.001 crash store')));
  // The write that is shown at 14.0 has still happened, and the change is shown as well.
  assert.deepEqual((await eventTexts(page)).slice(0, shown.length), shown);
  assert.match(shown.at(-1), /^14\.0.*store records B’s chunk 2/);
  assert.match((await eventTexts(page))[shown.length], /^14\.0.*store dies/);
}));

test('at the end of the run nothing is added after it', withPages(async (open) => {
  const page = await open('?t=60');
  await openPanel(page);
  const then = await hash(page);
  const isolate = panel(page).getByRole('button', { name: 'Isolate' });
  await machine('store')(panel(page));
  await drawn(page);
  assert.equal(await isolate.getAttribute('aria-disabled'), 'true');
  await isolate.click({ force: true });
  await eventually(async () => assert.notEqual(await panel(page).locator('[role=alert]').textContent(), ''));
  assert.deepEqual(await entries(page), STORY);
  assert.equal(await hash(page), then);
}));

/** What would have no effect, and why; with `do`, in another run. */
const IDLE = [
  { at: 3, choose: machine('A'), name: 'Resume', because: 'A is not paused' },
  { at: 3, choose: machine('A'), name: 'Restart', because: 'A is not down' },
  { at: 3, choose: machine('A'), name: 'Acquire', because: 'A is at it already' },
  { at: 3, choose: machine('C'), name: 'Release', because: 'C holds nothing' },
  { at: 3, choose: machine('store'), name: 'Release', because: 'there is no worker “store”' },
  { at: 8, choose: machine('A'), name: 'Pause for', because: 'A is paused already' },
  { at: 8, choose: machine('A'), name: 'Release', because: 'A is paused' },
  { at: 22, choose: machine('B'), name: 'Crash', because: 'B is down already' },
  { at: 22, choose: machine('B'), name: 'Pause for', because: 'B is down' },
  { at: 48, choose: machine('leader'), name: 'Crash', because: 'no node leads at this moment' },
  { at: 30, choose: machine('A'), name: 'Crash', because: /^A['’]s process has ended$/ },
  { at: 30, do: [...STORY, '20 isolate C'], choose: machine('C'), name: 'Isolate', because: 'C is cut off already' },
  { at: 3, choose: machine('A'), name: 'Heal', because: 'nothing was cut' },
  { at: 3, choose: path('A', 'A'), name: 'Drop it', because: 'A sends no messages to itself' },
  { at: 3, choose: field('Length of the pause in seconds', 'long'), name: 'Pause for', because: '“long” is not a number' },
  { at: 3, choose: field('Sides of the partition', 'n1 | n1'), name: 'Partition', because: /n1.*(two|twice|both)/ },
];

for (const { at, do: list, choose, name, because } of IDLE) {
  test(`“${name}” at ${at} s says that it has no effect: ${because}`, withPages(async (open) => {
    const page = await open(list ? queryOf(list) : '');
    await seek(page, 60);
    await seek(page, at);
    await openPanel(page);
    await choose(panel(page));
    await drawn(page);
    const then = { hash: await hash(page), drawing: await drawing(page), entries: await entries(page) };
    const act = panel(page).getByRole('button', { name, exact: true });
    assert.equal(await act.getAttribute('aria-disabled'), 'true');
    const title = await act.getAttribute('title');
    assert.match(title, /^No effect: /);
    const reason = title.replace('No effect: ', '');
    because instanceof RegExp ? assert.match(reason, because) : assert.equal(reason, because);
    // It can be pressed, says why, and changes nothing.
    await act.click({ force: true });
    await eventually(async () => {
      const said = await panel(page).locator('[role=alert]').textContent();
      assert.ok(said.includes(reason), `it says “${said}”`);
    });
    assert.deepEqual({ hash: await hash(page), drawing: await drawing(page), entries: await entries(page) }, then);
    assert.equal(await button(page, 'Undo').isEnabled(), false);
  }));
}

test('every lock service and every store can be chosen, from the start of the run', withPages(async (open) => {
  const page = await open();
  await openPanel(page);
  for (const [name, sentence] of [['lease item', '0 service lease-item'], ['SQL', '0 store sql'], ['S3', '0 store s3'], ['DynamoDB', '0 store dynamodb']]) {
    const before = await hash(page);
    const choice = panel(page).getByRole('button', { name, exact: true });
    await choice.click();
    await eventually(async () => assert.notEqual(await hash(page), before));
    assert.equal(await choice.getAttribute('aria-pressed'), 'true', name);
    assert.ok((await entries(page)).includes(sentence), String(await entries(page)));
  }
}));

test('what the panel shows follows the cursor and the run', withPages(async (open) => {
  const page = await open();
  await answer(page);
  await openPanel(page);
  const resume = panel(page).getByRole('button', { name: 'Resume' });
  await seek(page, 8);
  await eventually(async () => assert.equal(await resume.getAttribute('aria-disabled'), 'false'));
  assert.equal(await resume.getAttribute('title'), 'resume A');
  await seek(page, 20);
  await eventually(async () => assert.equal(await resume.getAttribute('aria-disabled'), 'true'));
  const off = panel(page).getByRole('group', { name: 'Fence' }).getByRole('button', { name: 'off' });
  assert.equal(await off.getAttribute('aria-pressed'), 'false');
  await off.click();
  await eventually(async () => assert.equal(await off.getAttribute('aria-pressed'), 'true'));
  // Back on from the start: that is how the story is, so the entry goes.
  await panel(page).getByRole('group', { name: 'Fence' }).getByRole('button', { name: 'on', exact: true }).click();
  await eventually(async () => assert.deepEqual(await entries(page), STORY));
  await page.getByRole('heading', { name: 'The story’s own faults' }).waitFor();
}));

test('a rule that makes no sense is refused in a sentence, and everything stays', withPages(async (open) => {
  const page = await open();
  await openPanel(page);
  const then = await hash(page);
  await span(/^Margin/, '9')(panel(page));
  await eventually(async () => assert.match(await panel(page).locator('[role=alert]').textContent(), /margin 9/));
  assert.equal(await hash(page), then);
  assert.deepEqual(await entries(page), STORY);
  await field('An intervention, such as 5 delay A store 20', '5 explode A')(panel(page));
  await press('Add')(panel(page));
  await eventually(async () => assert.match(await panel(page).locator('[role=alert]').textContent(), /explode.*expected/));
  assert.equal(await hash(page), then);
  // What was typed is still there, to be corrected.
  const typed = panel(page).getByRole('textbox', { name: /^An intervention/ });
  assert.equal(await typed.inputValue(), '5 explode A');
  await typed.fill('5 isolate A');
  await typed.press('Enter');
  await eventually(async () => assert.ok((await entries(page)).includes('5 isolate A')));
  assert.equal(await panel(page).locator('[role=alert]').textContent(), '');
}));

test('a double click on a lane opens the panel with that machine', withPages(async (open) => {
  const page = await open();
  const lane = page.getByRole('img', { name: /^Timeline/ }).getByText('Worker B', { exact: true });
  const [box, all] = [await lane.boundingBox(), await page.getByRole('img', { name: /^Timeline/ }).boundingBox()];
  await page.mouse.dblclick(all.x + all.width / 4, box.y + box.height / 2);
  await panel(page).getByRole('button', { name: 'Crash' }).waitFor();
  await eventually(async () =>
    assert.equal(await panel(page).getByRole('combobox', { name: 'Machine' }).inputValue(), 'B'));
}));

// The list.

const edit = async (page, from, to) => {
  await button(page, `Edit ${from}`).click();
  const input = changes(page).getByRole('textbox', { name: `Change ${from}` });
  await input.fill(to);
  await button(page, 'Save').click();
};

test('with a pause of 8 s, A’s checked write at 12.05 is accepted, and A gives up', withPages(async (open) => {
  const page = await open();
  await edit(page, '4 pause A 15', '4 pause A 8');
  await eventually(async () => assert.deepEqual(await entries(page), ['4 pause A 8', '21 crash B', '47 crash leader']));
  const events = await eventTexts(page);
  assert.ok(events.some((line) => /^12\.05.*store records A’s chunk 2 with token 7/.test(line)), events.join('\n'));
  assert.ok(events.some((line) => /^12\.1.*A’s stop time 11\.0 has passed by its own clock: it lets go/.test(line)));
  assert.ok(events.some((line) => /^13\.5.*B acquires the lock/.test(line)));
  assert.ok(!events.some((line) => /refuses A/.test(line)));
  await seek(page, 14);
  const facts = await worldFacts(page);
  assert.match(facts.A, /^gave up/);
  assert.match(facts.Chunks, /^1–2 by 7/);
  // The story is never charged twice this way.
  await seek(page, 60);
  assert.equal((await worldFacts(page)).Charged, '50,000 once · 0 twice');
}));

test('with the fence off, 5,000 customers are charged twice: in the verdict, the drawing and the card', withPages(async (open) => {
  const page = await open();
  await openPanel(page);
  await rule('Fence', 'off')(panel(page));
  await eventually(async () => assert.ok((await entries(page)).includes('0 fence off')));
  await seek(page, 19.5);
  const verdict = (await verdictTexts(page)).find((text) => text.includes('charged at most once'));
  assert.match(verdict, /^✕broken: every invoice charged at most once: .*5,000 customers are charged twice/);
  assert.match(await timelineText(page), /A’s chunk 2: charged twice/);
  assert.equal((await worldFacts(page)).Charged, '5,000 once · 5,000 twice');
  // The verdict leads to the instant.
  await seek(page, 30);
  await page.getByRole('button', { name: /5,000 customers are charged twice/ }).first().click();
  await eventually(async () => assert.equal(await cursor(page), '19.05 s'));
}));

test('an edit with a mistake says what is wrong and keeps everything', withPages(async (open) => {
  const page = await open();
  const then = await hash(page);
  for (const [text, says] of [
    ['4 pauze A 15', /“4 pauze A 15”: .*pauze.*expected/],
    ['pause A', /expected/],
    ['4 pause Z 15', /there is no machine “Z”/],
    ['4 pause A -1', /sign/],
    ['0 margin 8', /margin 8/],
    ['', /expected/],
  ]) {
    await edit(page, '4 pause A 15', text);
    await eventually(async () => assert.match(await changes(page).locator('[role=alert]').textContent(), says));
    const input = changes(page).getByRole('textbox', { name: 'Change 4 pause A 15' });
    assert.equal(await input.inputValue(), text, 'what was typed is lost');
    assert.equal(await hash(page), then);
    await button(page, 'Cancel').click();
    assert.deepEqual(await entries(page), STORY);
    assert.equal(await changes(page).locator('[role=alert]').textContent(), '');
  }
  assert.equal(await button(page, 'Undo').isEnabled(), false);
}));

test('entries are switched off and on, removed, and brought back by undo and redo', withPages(async (open) => {
  const page = await open();
  await answer(page);
  const states = [];
  const state = async () => [await hash(page), await drawing(page), await entries(page)];
  const step = async (name) => {
    const then = await hash(page);
    await button(page, name).click();
    await eventually(async () => assert.notEqual(await hash(page), then));
    await drawn(page);
  };
  states.push(await state());
  await step('Switch off 21 crash B');
  assert.deepEqual(await entries(page), STORY, 'what is off stays in the list');
  assert.doesNotMatch((await eventTexts(page)).join('\n'), /B’s process dies/);
  assert.equal(await hash(page), await page.evaluate(() =>
    window.leaseLab.run('billing-story', ['4 pause A 15', '47 crash leader']).hash));
  states.push(await state());
  await step('Remove 4 pause A 15');
  assert.deepEqual(await entries(page), ['21 crash B', '47 crash leader']);
  states.push(await state());
  await step('Switch on 21 crash B');
  states.push(await state());

  for (const expected of states.slice(0, -1).reverse()) {
    await step('Undo');
    assert.deepEqual(await state(), expected);
  }
  assert.equal(await button(page, 'Undo').isEnabled(), false);
  for (const expected of states.slice(1)) {
    await step('Redo');
    assert.deepEqual(await state(), expected);
  }
  assert.equal(await button(page, 'Redo').isEnabled(), false);
  await step('Back to the story as it is');
  assert.deepEqual(await state(), states[0]);
  assert.equal(await button(page, 'Back to the story as it is').count(), 0);
}));

test('earlier versions are kept and can be returned to', withPages(async (open) => {
  const page = await open();
  await edit(page, '4 pause A 15', '4 pause A 8');
  await eventually(async () => assert.ok((await entries(page)).includes('4 pause A 8')));
  const left = await hash(page);
  await button(page, 'Undo').click();
  await eventually(async () => assert.deepEqual(await entries(page), STORY));
  await button(page, 'Remove 47 crash leader').click();
  await eventually(async () => assert.equal((await entries(page)).length, 2));
  await page.getByText('Earlier versions (1)').click();
  await button(page, '4 pause A 8; 21 crash B; 47 crash leader').click();
  await eventually(async () => assert.equal(await hash(page), left));
  assert.deepEqual(await entries(page), ['4 pause A 8', '21 crash B', '47 crash leader']);
  // Now the other one is the earlier version.
  await page.getByText('Earlier versions (1)').click();
  await button(page, '4 pause A 15; 21 crash B').click();
  await eventually(async () => assert.deepEqual(await entries(page), ['4 pause A 15', '21 crash B']));
}));

test('with everything removed, everybody is left alone and the job is done by A', withPages(async (open) => {
  const page = await open();
  for (const entry of STORY) {
    await button(page, `Remove ${entry}`).click();
    await eventually(async () => assert.ok(!(await entries(page)).includes(entry)));
  }
  await page.getByText('Nothing: everybody is left alone.').waitFor();
  await seek(page, 60);
  assert.match((await worldFacts(page)).A, /^done/);
  assert.equal((await worldFacts(page)).Charged, '50,000 once · 0 twice');
  await eventList(page).getByText(/A sets the row to DONE/).waitFor();
}));
