// Think-first drills: commit, run, compare, why, variation, in this order and in no other.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { ADDRESS, checkedDrill, eventually, withPages } from './lab.mjs';

// What moves takes time; one test below watches it.
const STILL = { reducedMotion: 'reduce' };
const NARROW = { ...STILL, viewport: { width: 320, height: 700 } };

async function openDrill(blank, id, options = STILL) {
  const page = await blank(options);
  await page.goto(`${ADDRESS}?drill=${id}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return page;
}

const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
const result = (page) => page.locator('#result-title');
const commit = (page, name = /^(Commit|Run|Keep)/) => page.getByRole('button', { name });
const text = (page) => page.evaluate(() => document.body.innerText);

async function axe(page, what) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const told = violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.target).join(', ')}`);
  assert.deepEqual(told, [], what);
}

/** Each sort of drill: how to answer it by mouse, and by keyboard; what comes out. */
const SORTS = [
  {
    id: 'late-write',
    what: 'choose',
    async byMouse(page) {
      await page.getByText('It refuses the chunk, because the token is below the fence.').click();
    },
    async byKeyboard(page) {
      await page.getByRole('radio').first().focus();
      await page.keyboard.press('Space');
    },
    // The first option is wrong.
    wrongFeedback: 'The check was true at 3.9.',
  },
  {
    id: 'takeover-order',
    what: 'order',
    async byMouse(page) {
      // As a bubble sort by what the run says, which a learner does in the head.
      const wanted = await rightOrder('takeover-order');
      for (let rounds = 0; rounds < wanted.length ** 2; rounds += 1) {
        const texts = await page.locator('.order-text').allTextContents();
        const wrong = texts.findIndex((item, place) => place > 0 && wanted.indexOf(item) < wanted.indexOf(texts[place - 1]));
        if (wrong < 0) return;
        await page.getByRole('button', { name: `Earlier: ${texts[wrong]}` }).click();
      }
    },
    async byKeyboard(page) {
      // The last item first: wrong in any case, as a run begins with something.
      const wanted = await rightOrder('takeover-order');
      for (let place = 0; place < wanted.length; place += 1) {
        await page.getByRole('button', { name: `Earlier: ${wanted.at(-1)}` }).focus();
        await page.keyboard.press('Enter');
      }
    },
  },
  {
    id: 'zombie-for',
    what: 'number',
    async byMouse(page) {
      await page.getByLabel('Your answer').fill(await rightNumber('zombie-for'));
    },
    async byKeyboard(page) {
      await page.getByLabel('Your answer').focus();
      await page.keyboard.type('0.125');
    },
  },
  {
    id: 'lease-ends',
    what: 'mark',
    async byMouse(page) {
      await page.getByLabel('Your instant').fill(await rightNumber('lease-ends'));
      await page.getByLabel('Your instant').blur();
    },
    async byKeyboard(page) {
      await page.getByLabel('Your instant').focus();
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Tab');
    },
  },
  {
    id: 'two-charges',
    what: 'break it',
    async byMouse(page) {
      await addByHand(page, '13.7 resume A');
    },
    async byKeyboard(page) {
      await addByHand(page, '30 crash n1');
    },
  },
  {
    id: 'late-raise',
    what: 'fix it',
    async byMouse(page) {
      await page.getByText('Raise the fence before reading').click();
    },
    async byKeyboard(page) {
      await page.getByRole('checkbox', { name: 'A longer margin: 4 s' }).focus();
      await page.keyboard.press('Space');
    },
    wrongFeedback: 'A frozen A looks at no clock.',
  },
];

/** What `lease-lab drills check` prints of a drill. */
async function checked(id) {
  return checkedDrill(id);
}

async function rightOrder(id) {
  const [, words] = (await checked(id)).match(/the run says: (.*→.*)/);
  return words.split('→').map((item) => item.trim());
}

async function rightNumber(id) {
  const [, number] = (await checked(id)).match(/^right: (?:number|mark) (\S+);/m);
  return number;
}

/** Types an intervention into the panel. */
async function addByHand(page, words) {
  await page.locator('#intervene summary').click();
  const field = page.locator('#intervene').getByRole('textbox', { name: /^An intervention/ });
  await field.fill(words);
  await field.press('Enter');
  await page.locator('.changes').getByText(words).waitFor();
}

for (const sort of SORTS) {
  test(`${sort.what}: a whole drill by mouse, with the right answer`, withPages(async (open, blank) => {
    const page = await openDrill(blank, sort.id);
    assert.equal(await result(page).count(), 0);
    await sort.byMouse(page);
    await commit(page).click();
    await result(page).waitFor();
    assert.match(await result(page).textContent(), /Right/);
    await page.getByRole('heading', { name: 'Why', exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Try it', exact: true }).waitFor();
    await axe(page, 'finished');
  }));

  test(`${sort.what}: a whole drill by keyboard at 320 px, with a wrong answer`, withPages(async (open, blank) => {
    const page = await openDrill(blank, sort.id, NARROW);
    assert.ok((await overflow(page)) <= 0, 'it is wider than 320 px');
    await axe(page, 'asked');
    await sort.byKeyboard(page);
    await commit(page).focus();
    await page.keyboard.press('Enter');
    await result(page).waitFor();
    assert.match(await result(page).textContent(), /Not this time/);
    // The focus is where the result begins.
    await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.id), 'result-title'));
    if (sort.wrongFeedback) {
      assert.ok((await text(page)).includes(sort.wrongFeedback));
    }
    assert.ok((await overflow(page)) <= 0, 'the result is wider than 320 px');
    await axe(page, 'told');
  }));
}

test('explain: an answer is written before the model is seen, and the learner grades it', withPages(async (open, blank) => {
  const page = await openDrill(blank, 'lock-lease-fence');
  const model = 'A lease is a lock that expires by itself';
  assert.ok(!(await text(page)).includes(model));
  await page.getByRole('button', { name: 'Compare with a model answer' }).click();
  await page.getByText('Write two or three sentences first').waitFor();
  assert.ok(!(await text(page)).includes(model));
  await page.getByLabel('Your answer, in a few sentences').fill('A lease ends by itself, and a fence refuses old tokens.');
  await page.getByRole('button', { name: 'Compare with a model answer' }).click();
  await page.getByText(model).waitFor();
  await axe(page, 'comparing');
  for (const box of await page.getByRole('checkbox').all()) {
    await box.check();
  }
  await commit(page).click();
  await result(page).waitFor();
  assert.match(await result(page).textContent(), /Right/);
}));

test('before the commitment nothing on the page gives the answer away', withPages(async (open, blank) => {
  const page = await openDrill(blank, 'late-write');
  const whole = async () =>
    [await page.content(), page.url(), JSON.stringify(await page.locator('body').ariaSnapshot())].join('\n');
  const secrets = ['was honest when it was made', 'write-refused', '7 is lower', 'misconception', 'refused: 7'];
  const check = async (when) => {
    const seen = await whole();
    for (const secret of secrets) {
      assert.ok(!seen.includes(secret), `“${secret}” is on the page ${when}`);
    }
    assert.ok((await page.locator('.now').first().textContent()).startsWith('18.9 s'), when);
    assert.equal(await page.locator('.event-list li').filter({ hasText: '19.0' }).count(), 0, when);
  };
  await check('at first');
  await page.locator('#lab').focus();
  for (const key of ['End', 'ArrowRight', 'Shift+ArrowRight', 'End', 'ArrowRight']) {
    await page.keyboard.press(key);
    await check(`after ${key}`);
  }
  await page.getByRole('button', { name: 'To the end' }).click();
  await check('after “To the end”');
  const slider = page.getByRole('slider', { name: 'Time' });
  await slider.fill('60');
  await check('after the slider');
  await page.mouse.click(900, 500);
  await page.goto(`${ADDRESS}?drill=late-write&t=30&do=&view=0-60&ghost=fence-off`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await check('with an address that asks for more');
  await page.keyboard.press('Enter');
  await commit(page).click();
  await page.getByText('Nothing is chosen yet').waitFor();
  await check('after an empty commitment');
}));

test('going back shows the first answer honestly, and asks no second time', withPages(async (open, blank) => {
  const page = await openDrill(blank, 'late-write');
  await page.getByRole('radio').first().check();
  await commit(page).click();
  await result(page).waitFor();
  await page.getByRole('link', { name: /^Next: / }).click();
  await page.waitForURL((url) => !url.search.includes('late-write'));
  await page.goBack();
  await result(page).waitFor();
  assert.match(await result(page).textContent(), /Not this time/);
  assert.match(await text(page), /You answered this on \d{4}-\d\d-\d\d/);
  await page.getByRole('button', { name: 'Answer again' }).click();
  await page.getByText('It refuses the chunk, because the token is below the fence.').click();
  await commit(page).click();
  await result(page).waitFor();
  assert.match(await result(page).textContent(), /Right/);
  assert.match(await text(page), /Your first answer, on .*It records the chunk.* It was not right/);
}));

test('the run is watched between commitment and result, and can be cut short', withPages(async (open, blank) => {
  const page = await openDrill(blank, 'late-write', {});
  await page.getByRole('radio').first().check();
  await commit(page).click();
  await page.getByText('The simulator runs').waitFor();
  assert.equal(await result(page).count(), 0);
  await page.getByRole('button', { name: 'Go to the result' }).click();
  await result(page).waitFor();
}));

test('an instant is marked on the timeline by pointer, also where nothing is drawn yet', withPages(async (open, blank) => {
  const page = await openDrill(blank, 'lease-ends');
  const timeline = page.locator('.timeline');
  const { x, y, width } = await timeline.boundingBox();
  await page.mouse.click(x + width * 0.8, y + 120);
  const marked = Number(await page.getByLabel('Your instant').inputValue());
  assert.ok(marked > 0, `${marked}`);
  // The cursor stays where it is.
  assert.ok(!(await page.locator('.now').first().textContent()).startsWith(`${marked} s`));
}));

test('a number that cannot be used gets a sentence, and nothing is kept', withPages(async (open, blank) => {
  const page = await openDrill(blank, 'zombie-for');
  for (const [typed, said] of [
    ['', 'Nothing is typed yet'],
    ['soon', '“soon” cannot be used'],
    ['1e3', '“1e3” cannot be used'],
    ['7,5', '“7,5” cannot be used'],
    ['-999999', 'cannot be used'],
  ]) {
    await page.getByLabel('Your answer').fill(typed);
    await commit(page).click();
    await page.getByRole('alert').getByText(said).waitFor();
    assert.equal(await result(page).count(), 0);
  }
}));

/** Answers `late-write` rightly. */
async function answer(page) {
  await page.goto(`${ADDRESS}?drill=late-write`);
  await page.getByText('It refuses the chunk, because the token is below the fence.').click();
  await commit(page).click();
  await result(page).waitFor();
}

const answered = async (page) => page.locator('.totals').getByText(/\d+ of \d+/).textContent();

test('progress is kept over reloads, exported, erased and imported', withPages(async (open, blank) => {
  const page = await blank(STILL);
  await answer(page);
  await page.goto(`${ADDRESS}?drill`);
  assert.match(await answered(page), /^1 of /);
  await page.reload();
  assert.match(await answered(page), /^1 of /);
  assert.match(await text(page), /right, again tomorrow/);
  await axe(page, 'overview');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export to a file' }).click(),
  ]);
  const exported = await readFile(await download.path(), 'utf8');
  assert.equal(JSON.parse(exported).version, 1);

  const file = page.getByLabel('Import from a file');
  const before = await page.evaluate(() => localStorage.getItem('lease-lab-progress'));
  for (const damaged of ['', 'no json', '{"version":99,"items":{}}', exported.slice(0, -20), '[]']) {
    await file.setInputFiles({ name: 'damaged.json', mimeType: 'application/json', buffer: Buffer.from(damaged) });
    await page.getByRole('alert').getByText('Nothing was imported, and nothing has changed').waitFor();
    assert.equal(await page.evaluate(() => localStorage.getItem('lease-lab-progress')), before);
  }

  await page.getByRole('button', { name: 'Erase all answers' }).click();
  await page.getByRole('button', { name: 'Keep them' }).click();
  assert.match(await answered(page), /^1 of /);
  await page.getByRole('button', { name: 'Erase all answers' }).click();
  await page.getByRole('button', { name: 'Erase', exact: true }).click();
  await page.getByText('All answers are erased.').waitFor();
  assert.match(await answered(page), /^0 of /);

  await file.setInputFiles({ name: 'mine.json', mimeType: 'application/json', buffer: Buffer.from(exported) });
  await page.getByText('Imported: answers to 1 drill.').waitFor();
  assert.match(await answered(page), /^1 of /);
  await page.reload();
  assert.match(await answered(page), /^1 of /);
}));

test('what was answered comes back after a day, and its first answer is kept', withPages(async (open, blank) => {
  const page = await blank(STILL);
  await answer(page);
  await page.clock.setFixedTime(Date.now() + 86_400_000);
  await page.goto(`${ADDRESS}?drill`);
  assert.match(await page.locator('.totals').textContent(), /Due today1/);
  await page.getByRole('link', { name: 'Five minutes for today' }).click();
  // What is due comes first, and is asked anew.
  await page.waitForURL((url) => url.search.includes('drill=late-write'));
  assert.equal(await result(page).count(), 0);
  await commit(page).waitFor();
}));

test('a session goes through its drills to the end', withPages(async (open, blank) => {
  const page = await blank(STILL);
  await page.goto(`${ADDRESS}?drill`);
  await page.getByRole('link', { name: 'Begin with five minutes' }).click();
  await page.getByText('5 more in this session').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('then').split(',').length, 5);
}));

test('without storage it works, and says that nothing is kept', withPages(async (open, blank) => {
  const prepare = (page) =>
    page.addInitScript(() => {
      Object.defineProperty(window, 'localStorage', {
        get() {
          throw new DOMException('refused', 'SecurityError');
        },
      });
    });
  const page = await blank({ ...STILL, prepare });
  await page.goto(`${ADDRESS}?drill`);
  await page.getByText('This browser keeps nothing for this page').waitFor();
  await page.locator('.drill-parts').getByRole('link', { name: 'A write after the pause' }).click();
  await page.getByRole('radio').first().check();
  await commit(page).click();
  await result(page).waitFor();
  // Links between drills do not leave the page, so the answer is still there.
  await page.getByRole('link', { name: 'All drills' }).last().click();
  assert.match(await answered(page), /^1 of /);
}));

test('progress of a newer version or a damaged one is set aside, not lost', withPages(async (open, blank) => {
  for (const stored of ['{"version":99}', 'damaged']) {
    const page = await blank(STILL);
    await page.goto(`${ADDRESS}?drill`);
    await page.evaluate((stored) => localStorage.setItem('lease-lab-progress', stored), stored);
    await answer(page);
    const kept = await page.evaluate(() => localStorage.getItem('lease-lab-progress-unreadable'));
    assert.equal(kept, stored);
  }
}));

test('an unknown drill is answered with the list', withPages(async (open, blank) => {
  const page = await openDrill(blank, 'no-such-drill');
  await page.getByText('a drill “no-such-drill” that does not exist').waitFor();
  await page.getByRole('link', { name: 'A write after the pause' }).waitFor();
}));
