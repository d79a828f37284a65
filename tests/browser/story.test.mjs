// From the first paint to the end of the story.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  announcer, answer, button, cursor, drawing, eventTexts, eventually, scrubber, seek, timelineText, verdictTexts,
  withPages, worldFacts,
} from './lab.mjs';

/** What would give the answer away. The question's own options and the general explanations say nothing about it. */
const SPOILERS = /refuses A|refused:|7 < 12|19\.05|19\.1 |learns that the store has refused|beat 12|dies|twice: /;

test('the page opens at the question, and nothing gives the answer away', withPages(async (open) => {
  const page = await open();
  assert.equal(await cursor(page), '19.0 s');
  assert.equal(await scrubber(page).inputValue(), '19');
  await page.getByText('At 19.0 A sends chunk 2 with token 7. What will the store do?').waitFor();
  assert.doesNotMatch(await timelineText(page), SPOILERS);
  assert.doesNotMatch((await eventTexts(page)).join('\n'), SPOILERS);
  // All accessible names and texts, as assistive technology gets them.
  assert.doesNotMatch(await page.locator('#app').ariaSnapshot(), SPOILERS);
  // Whatever is in the document, shown or not; the contents speak of other labs' stories.
  const hidden = await page.evaluate(() => {
    document.querySelector('#contents').remove();
    return [...document.querySelectorAll('*')]
      .flatMap((element) => [...element.attributes].map((attribute) => attribute.value))
      .concat(document.body.textContent)
      .join('\n');
  });
  assert.doesNotMatch(hidden, SPOILERS);
  // The last event is the one that the question is about.
  assert.match((await eventTexts(page)).at(-1), /^19\.0.*A sends chunk 2 with token 7/);
  await page.getByText('What comes next appears once you have answered.').waitFor();
}));

for (const { option, right, says } of [
  { option: /^Record it/, right: false, says: /A check made before a pause says nothing about the time after it/ },
  { option: /^Refuse it/, right: true, says: /its token 7 is below the fence, 12/ },
  { option: /^Ask the lock service/, right: false, says: /It asks nobody/ },
]) {
  test(`the answer “${option.source.slice(1)} …” is ${right ? 'right' : 'wrong'}, and the store says why`, withPages(async (open) => {
    const page = await open();
    await answer(page, option);
    const text = await page.getByText(/^(Yes|No)\. /).innerText();
    assert.match(text, right ? /^Yes\. / : /^No\. /);
    assert.match(text, /The store refuses A’s chunk 2/);
    assert.match(text, says);
    assert.equal(await cursor(page), '19.1 s');
    // The reason is the one of the trace.
    const told = await page.evaluate(() =>
      window.leaseLab.run('billing-story').events.find((event) => event.kind === 'write-refused').why);
    assert.ok(text.includes(told), `“${text}” does not have the trace’s reason “${told}”`);
    assert.ok((await eventTexts(page)).some((line) => line.includes(told)));
    assert.match(await timelineText(page), /A’s chunk 2 refused: 7 < 12/);
    assert.equal(await page.getByText('What comes next appears').isVisible(), false);
    const chosen = page.getByRole('button', { name: option });
    assert.equal(await chosen.getAttribute('aria-pressed'), 'true');
  }));
}

test('Play moves the time, Pause stops it, and it goes on from there', withPages(async (open) => {
  const page = await open();
  await button(page, 'Play').click();
  await button(page, 'Pause').waitFor();
  await eventually(async () => assert.notEqual(await cursor(page), '19.0 s'));
  await button(page, 'Pause').click();
  await button(page, 'Play').waitFor();
  const [stopped, drawn] = [await cursor(page), await drawing(page)];
  assert.ok(parseFloat(stopped) > 19);
  // Many frames later it is still there.
  await page.evaluate(() => new Promise((resolve) => {
    let frames = 20;
    const next = () => (frames-- > 0 ? requestAnimationFrame(next) : resolve());
    next();
  }));
  assert.equal(await cursor(page), stopped);
  assert.equal(await drawing(page), drawn);
  await button(page, 'Play').click();
  await eventually(async () => assert.ok(parseFloat(await cursor(page)) > parseFloat(stopped)));
}));

test('the story plays to its end at 16×, and every verdict is there', withPages(async (open) => {
  const page = await open();
  await page.getByRole('combobox', { name: 'Speed' }).selectOption('16×');
  const begun = Date.now();
  await button(page, 'Play').click();
  await eventually(async () => assert.equal(await cursor(page), '60.0 s'));
  // 41 s of the story.
  assert.ok(Date.now() - begun > 2_000, 'it ended too early for 16×');
  await button(page, 'Play').waitFor();
  const texts = await verdictTexts(page);
  assert.equal(texts.length, 7);
  for (const text of texts) {
    assert.match(text, text.includes('acts in time') ? /^✕broken: acts in time: A sends at 19\.0/ : /^✓holds: /);
  }
  const facts = await worldFacts(page);
  assert.match(facts.Row, /^DONE · fence 15 .*not in the index/);
  assert.equal(facts.Key, 'nobody holds it');
  assert.equal(facts.Charged, '50,000 once · 0 twice');
  assert.match(facts.A, /^gave up/);
  assert.match(facts.B, /^crashed/);
  assert.match(facts.C, /^done/);
  // Played on from the end, it starts again.
  await button(page, 'Play').click();
  await eventually(async () => {
    const at = parseFloat(await cursor(page));
    assert.ok(at > 0 && at < 30);
  });
}));

test('the speed is that of the choice', withPages(async (open) => {
  const page = await open();
  const speed = page.getByRole('combobox', { name: 'Speed' });
  assert.equal(await speed.inputValue(), '4×');
  const names = await speed.getByRole('option').allTextContents();
  assert.deepEqual(names, ['¼×', '½×', '1×', '2×', '4×', '8×', '16×']);
  /** Seconds of the story for a second of the screen's clock. */
  const measured = async (name) => {
    await speed.selectOption(name);
    await seek(page, 5);
    await button(page, 'Play').click();
    const rate = await page.evaluate(() => new Promise((resolve) => {
      const now = () => parseFloat(document.querySelector('#world-title').textContent.replace('The world at ', ''));
      let first;
      const look = (time) => {
        first ??= { time, at: now() };
        if (time - first.time > 600) {
          resolve((now() - first.at) / ((time - first.time) / 1000));
        } else {
          requestAnimationFrame(look);
        }
      };
      requestAnimationFrame(look);
    }));
    await button(page, 'Pause').click();
    return rate;
  };
  for (const [name, rate] of [['1×', 1], ['8×', 8], ['½×', 0.5]]) {
    const found = await measured(name);
    assert.ok(found > rate * 0.6 && found < rate * 1.4, `${name} plays ${found} s in a second`);
  }
}));

test('playing past the question reveals what follows, and stepping back keeps it', withPages(async (open) => {
  const page = await open();
  await seek(page, 4);
  assert.doesNotMatch(await timelineText(page), SPOILERS);
  await seek(page, 25);
  assert.match(await timelineText(page), /A’s chunk 2 refused: 7 < 12/);
  await seek(page, 4);
  assert.match(await timelineText(page), /A’s chunk 2 refused: 7 < 12/);
  assert.equal(await announcer(page).textContent(), '');
}));
