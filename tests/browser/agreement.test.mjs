// The page and the command line run the same engine: the same list gives the same trace, byte for byte.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawn, entries, hash, queryOf, runByCommandLine, withPages } from './lab.mjs';

const PAUSE = '4 pause A 15';
const CRASH = '21 crash B';
const LEADER = '47 crash leader';
const STORY = [PAUSE, CRASH, LEADER];

/** Complete lists of interventions; `undefined` is the story's own. */
const LISTS = [
  undefined,
  [],
  STORY,
  [...STORY, '0 fence off'],
  [...STORY, '0 fence reject-equal'],
  [...STORY, '0 fence two-step'],
  [...STORY, '0 raise late'],
  ['4 pause A 9.7', CRASH, LEADER, '0 raise late'],
  ['4 pause A 8', CRASH, LEADER],
  ['4 pause A 5', CRASH, LEADER],
  ['3.8 pause A 9.3', CRASH, LEADER],
  ['3.123456 pause A 12.654321'],
  ['4 pause A 15 vm', CRASH, LEADER],
  ['4 pause A', '19 resume A', '13.2 pause B 2 vm'],
  [PAUSE, '30 crash leader', '35 restart n1'],
  [PAUSE, CRASH, '10 crash leader', '20 crash leader', '30 restart n1'],
  ['10 partition n1 | n2,n3', '30 heal'],
  [...STORY, '12 partition A,n1 | B,n2,n3,store', '25 heal'],
  ['4 isolate A', '16 isolate B', '20 heal'],
  ['16 step-wall B -3', '0 offset A 3', '0.5 step-wall store 7200'],
  ['0 rate A 1.1', '0 rate B 0.9', '5 rate n1 1.02'],
  [...STORY, '0 margin 0', '0 lease 8', '10 renew 2.5'],
  [...STORY, '0 sweeper off', '30 acquire D'],
  ['0.3 drop A store', '2.5 drop A n1', '13.4 drop n1 B'],
  ['5 delay A store 20', ...STORY],
  ['0.9 duplicate A store', '0 idempotent on'],
  ['0.9 duplicate A store', '2 delay A n1 0.1', '13.8 duplicate B store'],
  ['8 release A', '10 acquire D', '44 release D'],
  ['21 crash B', '22 restart B', '24 crash store', '27 restart store', '9 crash sweeper', '55 restart sweeper'],
  ['13 pause store 5', '13 pause n2 1 vm', '40 pause sweeper 10'],
  ['47 crash leader', '48 crash n2', '50 restart n2', '52 restart n1'],
  // Equal times keep the order of the list; what means nothing is recorded.
  ['5 crash A', '5 restart A', '5 resume B', '7 crash r3', '6 heal'],
  ['59.999999 crash C', '60 crash A'],
];

for (const list of LISTS) {
  const name = list === undefined ? 'the story' : list.join('; ') || 'nothing';
  test(`page and command line agree on: ${name}`, withPages(async (open) => {
    const expected = await runByCommandLine(list);
    const page = await open(list === undefined ? '' : queryOf(list));
    const found = await page.evaluate((list) => window.leaseLab.run('billing-story', list), list);
    assert.deepEqual(found, expected);
    assert.match(expected.hash, /^[0-9a-f]{16}$/);
    assert.ok(expected.events.length > 100);
    // The run that the page shows is this one as well.
    await drawn(page);
    assert.equal(await hash(page), expected.hash);
    if (list !== undefined) {
      assert.deepEqual(await entries(page), expected.interventions);
      // One text with semicolons means the same.
      const again = await page.evaluate((text) => window.leaseLab.run('billing-story', text).hash, list.join(';'));
      assert.equal(again, expected.hash);
    }
  }));
}

test('different lists have different hashes, and the same list always has the same', withPages(async (open) => {
  const page = await open();
  const hashes = await page.evaluate(
    (lists) => lists.map((list) => window.leaseLab.run('billing-story', list).hash),
    LISTS.slice(1).concat([STORY]),
  );
  assert.equal(hashes.at(-1), hashes[1]);
  assert.equal(new Set(hashes).size, LISTS.length - 1);
}));

test('a bad list throws an error of one sentence, and the page is as it was', withPages(async (open) => {
  const page = await open();
  const then = await hash(page);
  for (const [id, list, says] of [
    ['billing-story', ['4 pauze A 15'], /pauze.*expected/],
    ['billing-story', ['4 pause A 15', 'crash'], /intervention 2.*expected/],
    ['billing-story', '4 pause A 1e3', /1e3.*not a number/],
    ['billing-story', ['4 pause E 15'], /no machine “E”/],
    ['billing-story', ['10 partition n1 | n1,n2'], /n1/],
    ['billing-story', ['0 margin 9'], /margin 9.*expected/],
    ['billing-story', ['1 service redlock'], /expected/],
    ['billing-story', Array.from({ length: 201 }, (_, at) => `${at} heal`), /more than 200 entries/],
    ['billing-story', 17, /neither a text nor a list/],
    ['billing-story', { do: 'heal' }, /neither a text nor a list/],
    ['billing-story', [17], /expected/],
    ['billing-story', [null, undefined], /expected/],
    ['no-such-story', [], /there is no scenario “no-such-story”/],
    [undefined, undefined, /there is no scenario/],
  ]) {
    const thrown = await page.evaluate(([id, list]) => {
      try {
        window.leaseLab.run(id, list);
      } catch (error) {
        return { isError: error instanceof Error, message: error.message };
      }
      return null;
    }, [id, list]);
    const what = JSON.stringify([id, list])?.slice(0, 80);
    assert.ok(thrown, `${what} is accepted`);
    assert.ok(thrown.isError, `${what} throws something that is no Error`);
    assert.match(thrown.message, says);
    assert.doesNotMatch(thrown.message, /\n|panicked|undefined/, what);
    assert.ok(thrown.message.length < 400, `${thrown.message.length} characters are no sentence`);
  }
  assert.equal(await hash(page), then);
  assert.equal((await page.evaluate(() => window.leaseLab.run('billing-story'))).hash, then);
}));

test('the command line refuses the same lists in the same words', withPages(async (open) => {
  const page = await open();
  for (const sentence of ['4 pauze A 15', '4 pause E 15', '0 margin 9', '10 partition n1 | n1,n2']) {
    const thrown = await page.evaluate((sentence) => {
      try {
        window.leaseLab.run('billing-story', [sentence]);
      } catch (error) {
        return error.message;
      }
      return '';
    }, sentence);
    const refused = await runByCommandLine([sentence]).then(() => null, (failure) => failure);
    assert.equal(refused?.code, 2, sentence);
    assert.equal(refused.stdout, '');
    assert.ok(refused.stderr.includes(thrown), `${refused.stderr}\n${thrown}`);
  }
}));
