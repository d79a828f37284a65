// Everything by keyboard alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  announcer, answer, button, changes, cursor, drawing, drawn, entries, eventTexts, eventually, hash, panel, scrubber,
  seek, timeline, withPages,
} from './lab.mjs';

const STORY = ['4 pause A 15', '21 crash B', '47 crash leader'];

const press = async (page, ...keys) => {
  for (const key of keys) {
    await page.keyboard.press(key);
  }
};

/** What has the focus, in words. */
const focused = (page) =>
  page.evaluate(() => {
    const element = document.activeElement;
    return element.ariaLabel ?? (element.labels?.[0]?.textContent.trim() || element.textContent.trim());
  });

/** Goes by Tab until the focus is where it should be. */
async function tabTo(page, locator) {
  const target = await locator.elementHandle();
  for (let presses = 0; presses < 250; presses += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) {
      return;
    }
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab never reaches ${locator}`);
}

/** Opens the page with everything revealed and the focus on the timeline, all by keyboard. */
async function inTheLab(open, query = '') {
  const page = await open(query);
  if (await page.getByRole('button', { name: /^Refuse it/ }).isVisible()) {
    await tabTo(page, page.getByRole('button', { name: /^Refuse it/ }));
    await press(page, 'Enter');
    await page.getByText(/^(Yes|No)\. /).waitFor();
  }
  await tabTo(page, timeline(page));
  return page;
}

test('no focus is taken and nothing scrolls when the page loads', withPages(async (open) => {
  const page = await open();
  await drawn(page);
  assert.equal(await page.evaluate(() => document.activeElement === document.body), true);
  assert.equal(await page.evaluate(() => window.scrollY), 0);
}));

for (const [what, prepare] of [
  ['at the question', async () => {}],
  ['with everything open', async (page) => {
    await answer(page);
    await panel(page).locator('summary').click();
    await panel(page).getByRole('button', { name: 'Crash' }).waitFor();
    await page.getByText('Lock nodes: log and memory').click();
    await button(page, 'Edit 4 pause A 15').click();
    await changes(page).getByRole('textbox').waitFor();
    // Back to the start of the page.
    await page.getByRole('link', { name: 'Skip to the lab' }).focus();
    await press(page, 'Shift+Tab');
  }],
]) {
  test(`Tab reaches everything in order, the skip link first, ${what}`, withPages(async (open) => {
    const page = await open();
    await prepare(page);
    // In the order of the document: everything that a pointer could press or fill in.
    const expected = await page.evaluate(() => {
      const places = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')];
      const shown = places.filter((place) => {
        const group = place.type === 'radio' ? document.querySelector(`[name=${place.name}]:checked`) : place;
        return place.checkVisibility({ visibilityProperty: true }) && !place.disabled && place.tabIndex >= 0 && group === place;
      });
      shown.forEach((place, number) => {
        place.dataset.number = number;
      });
      return shown.map((place) => place.outerHTML.replace(/\s+/g, ' ').slice(0, 80));
    });
    for (let presses = 0; presses < expected.length; presses += 1) {
      await page.keyboard.press('Tab');
      const reached = await page.evaluate(() => {
        const element = document.activeElement;
        const box = element.getBoundingClientRect();
        const style = getComputedStyle(element);
        // A focus that cannot be seen is none.
        const seen = box.width > 0 && box.bottom > 0 && box.top < innerHeight
          && (style.outlineStyle !== 'none' || style.boxShadow !== 'none');
        return seen ? Number(element.dataset.number) : `unseen: ${element.outerHTML.slice(0, 80)}`;
      });
      assert.equal(reached, presses, `it is not ${expected[presses]}, but ${expected[reached]}`);
    }
    assert.match(expected[0], /Skip to the lab/);
  }));
}

test('the skip link leads to the lab', withPages(async (open) => {
  const page = await open();
  await press(page, 'Tab');
  assert.equal(await focused(page), 'Skip to the lab');
  await press(page, 'Enter', 'Tab');
  assert.match(await focused(page), /^Timeline\./);
}));

test('arrows step through events, with Shift through beats, Home and End go to the ends', withPages(async (open) => {
  const page = await inTheLab(open);
  assert.equal(await cursor(page), '19.1 s');
  await press(page, 'Home');
  assert.equal(await cursor(page), '0.0 s');
  const seen = [];
  for (let step = 0; step < 6; step += 1) {
    await press(page, 'ArrowRight');
    seen.push(await scrubber(page).getAttribute('aria-valuetext'));
  }
  assert.deepEqual(seen, [...new Set(seen)], 'a step that goes nowhere');
  for (const expected of seen.slice(0, -1).reverse()) {
    await press(page, 'ArrowLeft');
    assert.equal(await scrubber(page).getAttribute('aria-valuetext'), expected);
  }
  await press(page, 'Home');
  const beats = [];
  for (let step = 0; step < 6; step += 1) {
    await press(page, 'Shift+ArrowRight');
    beats.push(await cursor(page));
  }
  assert.deepEqual(beats, ['0.02 s', '0.5 s', '1.0 s', '3.0 s', '3.9 s', '4.0 s']);
  await press(page, 'Shift+ArrowLeft', 'Shift+ArrowLeft');
  assert.equal(await cursor(page), '3.0 s');
  await press(page, 'End');
  assert.equal(await cursor(page), '60.0 s');
}));

test('Space and K play and pause', withPages(async (open) => {
  const page = await inTheLab(open);
  for (const key of [' ', 'k']) {
    const before = parseFloat(await cursor(page));
    await press(page, key);
    await button(page, 'Pause').waitFor();
    // On a busy machine the first frame takes its time.
    await eventually(async () => assert.ok(parseFloat(await cursor(page)) > before));
    await press(page, key);
    await button(page, 'Play').waitFor();
  }
  assert.equal(await page.evaluate(() => window.scrollY === 0 || document.activeElement.className === 'timeline'), true);
  // On a button, Space presses the button and does nothing else.
  await tabTo(page, button(page, 'To the start'));
  await press(page, ' ');
  assert.equal(await cursor(page), '0.0 s');
  await button(page, 'Play').waitFor();
}));

test('plus, minus and 0 zoom', withPages(async (open) => {
  const page = await inTheLab(open);
  const whole = await drawing(page);
  await press(page, '+');
  await drawn(page);
  const nearer = await drawing(page);
  assert.notEqual(nearer, whole);
  await press(page, '=');
  await drawn(page);
  assert.notEqual(await drawing(page), nearer);
  await press(page, '-');
  await drawn(page);
  assert.equal(await drawing(page), nearer);
  await press(page, '0');
  await drawn(page);
  assert.equal(await drawing(page), whole);
}));

test('? opens the help, Esc closes it, and the focus comes back', withPages(async (open) => {
  const page = await inTheLab(open);
  await press(page, '?');
  const help = page.getByRole('dialog', { name: 'Keys' });
  await help.waitFor();
  assert.equal(await help.evaluate((dialog) => dialog.contains(document.activeElement)), true);
  const then = await cursor(page);
  await press(page, 'ArrowRight');
  assert.equal(await cursor(page), then, 'keys act behind the help');
  await press(page, 'Escape');
  await help.waitFor({ state: 'hidden' });
  assert.match(await focused(page), /^Timeline\./);
  // From its button too, and more than once.
  for (let time = 0; time < 2; time += 1) {
    const keys = page.getByRole('banner').getByRole('button', { name: 'Keys' });
    await keys.focus();
    await press(page, 'Enter');
    await help.waitFor();
    await press(page, 'Escape');
    await help.waitFor({ state: 'hidden' });
    assert.equal(await focused(page), 'Keys');
  }
}));

test('I opens the panel and puts the focus there, also when it is open already', withPages(async (open) => {
  const page = await inTheLab(open);
  for (let time = 0; time < 2; time += 1) {
    await press(page, 'i');
    await eventually(async () =>
      assert.equal(await page.evaluate(() => document.activeElement.name), 'machine', 'the focus is not in the panel'));
    assert.equal(await panel(page).getAttribute('open'), '');
    await timeline(page).focus();
  }
}));

test('a whole intervention by keyboard, undone and redone', withPages(async (open) => {
  const page = await inTheLab(open);
  await press(page, 'Home', 'Shift+ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowRight');
  await tabTo(page, panel(page).locator('summary'));
  await press(page, 'Enter');
  await panel(page).getByRole('button', { name: 'Crash' }).waitFor();
  await tabTo(page, panel(page).getByRole('combobox', { name: 'Machine' }));
  await page.keyboard.type('A');
  await tabTo(page, panel(page).getByRole('button', { name: 'Pause for' }));
  await press(page, 'Tab');
  await page.keyboard.type('0.5');
  await press(page, 'Shift+Tab', 'Enter');
  await eventually(async () => assert.deepEqual(await entries(page), ['1.001 pause A 0.5', ...STORY]));
  assert.match(await announcer(page).textContent(), /^Added: 1\.001 pause A 0\.5$/);
  assert.ok((await eventTexts(page)).some((line) => /1\.0.*A’s process freezes for 0\.5 s/.test(line)));
  const changed = await hash(page);
  await press(page, 'Control+z');
  await eventually(async () => assert.deepEqual(await entries(page), STORY));
  await press(page, 'Control+y');
  await eventually(async () => assert.equal(await hash(page), changed));
  // Editing, by keyboard: the field has the focus.
  await tabTo(page, button(page, 'Edit 4 pause A 15'));
  await press(page, 'Enter');
  await eventually(async () => assert.equal(await focused(page), 'Change 4 pause A 15'));
  await press(page, 'Control+a');
  await page.keyboard.type('4 pause A 8');
  await press(page, 'Enter');
  await eventually(async () => assert.ok((await entries(page)).includes('4 pause A 8')));
}));

for (const [what, act, done] of [
  [
    'an entry is switched off',
    async (page) => {
      await button(page, 'Switch off 21 crash B').focus();
      await press(page, 'Enter');
    },
    (page) => button(page, 'Switch on 21 crash B').waitFor(),
  ],
  [
    'an edit is left by Esc',
    async (page) => {
      await button(page, 'Edit 21 crash B').focus();
      await press(page, 'Enter');
      await eventually(async () => assert.equal(await focused(page), 'Change 21 crash B'));
      await press(page, 'Escape');
    },
    (page) => button(page, 'Edit 21 crash B').waitFor(),
  ],
  [
    'an edit is saved',
    async (page) => {
      await button(page, 'Edit 21 crash B').focus();
      await press(page, 'Enter');
      await eventually(async () => assert.equal(await focused(page), 'Change 21 crash B'));
      await press(page, 'Control+a');
      await page.keyboard.type('22 crash B');
      await press(page, 'Enter');
    },
    (page) => button(page, 'Edit 22 crash B').waitFor(),
  ],
  [
    'an entry is removed',
    async (page) => {
      await button(page, 'Remove 21 crash B').focus();
      await press(page, 'Enter');
    },
    (page) => eventually(async () => assert.equal((await entries(page)).length, 2)),
  ],
  [
    'a change is undone by its button for the last time',
    async (page) => {
      await button(page, 'Remove 21 crash B').click();
      await eventually(async () => assert.equal((await entries(page)).length, 2));
      await button(page, 'Undo').focus();
      await press(page, 'Enter');
    },
    (page) => eventually(async () => assert.equal((await entries(page)).length, 3)),
  ],
]) {
  test(`the focus stays in the list when ${what}`, withPages(async (open) => {
    const page = await inTheLab(open);
    await act(page);
    await done(page);
    await drawn(page);
    await eventually(async () =>
      assert.ok(await changes(page).evaluate((card) => card.contains(document.activeElement)), 'the focus is lost'));
  }));
}

test('the focus is not lost when the question is answered', withPages(async (open) => {
  const page = await open();
  await page.getByRole('button', { name: /^Refuse it/ }).focus();
  await press(page, 'Enter');
  await page.getByText(/^Yes\. /).waitFor();
  await drawn(page);
  assert.equal(await page.evaluate(() => document.activeElement !== document.body), true, 'the focus is lost');
}));

test('keys outside the lab do nothing', withPages(async (open) => {
  const page = await open();
  await answer(page);
  const state = async () => [await cursor(page), await drawing(page), await hash(page), await panel(page).getAttribute('open')];
  const then = await state();
  const keys = ['ArrowRight', 'ArrowLeft', 'Shift+ArrowRight', 'Home', 'End', '+', '-', '0', 'k', 'i', '?'];
  await page.evaluate(() => document.activeElement.blur());
  await press(page, ...keys, ' ');
  await page.getByRole('banner').getByRole('button', { name: 'Copy link' }).focus();
  await press(page, ...keys);
  await changes(page).getByRole('button', { name: 'Edit 21 crash B' }).focus();
  await press(page, ...keys, 'Control+z');
  await drawn(page);
  assert.deepEqual(await state(), then);
  assert.equal(await page.getByRole('dialog').count(), 0);
  await button(page, 'Play').waitFor();
}));

test('keys in fields write, and trigger nothing', withPages(async (open) => {
  const page = await inTheLab(open);
  await panel(page).locator('summary').click();
  const then = [await cursor(page), await drawing(page), await hash(page)];
  const sentence = panel(page).getByRole('textbox', { name: /^An intervention/ });
  await sentence.focus();
  await page.keyboard.type('k i0+-=? 5');
  await press(page, 'ArrowLeft', 'Home', 'End', 'Shift+ArrowLeft');
  assert.equal(await sentence.inputValue(), 'k i0+-=? 5');
  await button(page, 'Play').waitFor();
  assert.deepEqual([await cursor(page), await drawing(page), await hash(page)], then);
  // In a field, Ctrl+Z takes back what was typed, not a change of the run.
  await press(page, 'Control+z');
  assert.equal(await hash(page), then[2]);
  // A choice is made with the arrows, without steps.
  await page.getByRole('combobox', { name: 'Speed' }).focus();
  await press(page, 'ArrowDown');
  assert.equal(await page.getByRole('combobox', { name: 'Speed' }).inputValue(), '8×');
  assert.equal(await cursor(page), then[0]);
}));

test('the scrubber is moved by its own keys and says where it is', withPages(async (open) => {
  const page = await inTheLab(open);
  await tabTo(page, scrubber(page));
  await press(page, 'ArrowRight');
  assert.equal(await cursor(page), '19.11 s');
  await press(page, 'Home');
  assert.equal(await cursor(page), '0.0 s');
  await press(page, 'End');
  assert.equal(await cursor(page), '60.0 s');
  await seek(page, 13.01);
  await press(page, 'ArrowRight');
  assert.match(await scrubber(page).getAttribute('aria-valuetext'), /^13\.02 s, beat 7 of 24: .*A’s lease expires/);
}));

test('steps are announced, and playing is silent', withPages(async (open) => {
  const page = await inTheLab(open);
  const said = new Set();
  for (const key of ['ArrowRight', 'ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowLeft', 'Home', 'End']) {
    await press(page, key);
    const text = await announcer(page).textContent();
    assert.ok(text.startsWith(await cursor(page)), `“${text}” at ${await cursor(page)}`);
    said.add(text);
  }
  assert.ok(said.size >= 5);
  await press(page, 'Home', 'Shift+ArrowRight', 'Shift+ArrowRight');
  assert.match(await announcer(page).textContent(), /^0\.5 s, beat 2 of 24: /);
  // No live region of any kind changes while it plays.
  await page.evaluate(() => {
    window.spoken = [];
    for (const region of document.querySelectorAll('[aria-live], [role=status], [role=alert], [role=log]')) {
      new MutationObserver(() => window.spoken.push(region.textContent))
        .observe(region, { childList: true, characterData: true, subtree: true });
    }
  });
  await press(page, ' ');
  await eventually(async () => assert.ok(parseFloat(await cursor(page)) > 5));
  await press(page, ' ');
  await button(page, 'Play').waitFor();
  assert.deepEqual(await page.evaluate(() => window.spoken), []);
  await press(page, 'ArrowRight');
  await eventually(async () => assert.equal((await page.evaluate(() => window.spoken)).length, 1));
}));
