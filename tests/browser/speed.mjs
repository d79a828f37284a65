// How long the page takes, measured in Chromium. Not a test: run it by hand with `npm run speed`, with the variables
// that `cargo xtask test --browser` sets (LEASE_LAB_URL, LEASE_LAB_CHROMIUM, LEASE_LAB_CLI).

import { ADDRESS, answer, browser, closeBrowser, openPanel, ready } from './lab.mjs';

const SCRUBS = 300;
const EDITS = 40;
const RUNS = 60;

const context = await (await browser()).newContext({ viewport: { width: 1280, height: 900 } });
const page = await context.newPage();
await page.goto(ADDRESS);
await ready(page);
await answer(page);

/**
 * Measures in the page: `act` does something, then everything that it caused is waited for: queued work and layout
 * (`work`), and the second frame after it (`frame`), which includes the wait for the screen. In milliseconds.
 */
const measure = (count, what) =>
  page.evaluate(async ([count, what]) => {
    const queue = () => new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = resolve;
      port2.postMessage(null);
    });
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
    let random = 20260928;
    const next = () => {
      random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
      return random / 2 ** 32;
    };
    const scrubber = document.querySelector('input.scrubber');
    const rules = ['fence off', 'fence on', 'raise late', 'raise first', 'sweeper off', 'sweeper on'];
    const acts = {
      scrub: () => {
        set.call(scrubber, (next() * 60).toFixed(2));
        scrubber.dispatchEvent(new Event('input', { bubbles: true }));
      },
      edit: (time) => document.querySelector(`[data-rule="${rules[time % rules.length]}"]`).click(),
      simulate: (time) => window.leaseLab.events('billing-story', [`${(4 + time / 100).toFixed(2)} pause A 15`, '21 crash B', '47 crash leader']),
      run: (time) => window.leaseLab.run('billing-story', [`${(4 + time / 100).toFixed(2)} pause A 15`, '21 crash B', '47 crash leader']),
    };
    const work = [];
    const frames = [];
    for (let time = 0; time < count; time += 1) {
      await frame();
      await queue();
      const drawn = document.querySelector('svg .drawing').firstChild;
      const start = performance.now();
      acts[what](time);
      await Promise.resolve();
      if (what !== 'run' && what !== 'simulate') {
        await queue();
        document.querySelector('.world').getBoundingClientRect();
        document.querySelector('.timeline svg').getBoundingClientRect();
      }
      work.push(performance.now() - start);
      if (what === 'edit' && drawn === document.querySelector('svg .drawing').firstChild) {
        throw new Error(`edit ${time} did not change the drawing`);
      }
      await frame();
      await frame();
      frames.push(performance.now() - start);
    }
    return { work, frames };
  }, [count, what]);

const at = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)];
const figures = (times) => {
  const sorted = [...times].sort((a, b) => a - b);
  return [0.5, 0.95, 1].map((part) => at(sorted, part).toFixed(1).padStart(8)).join(' ');
};
const line = (name, times) => console.log(`${name.padEnd(58)} ${String(times.length).padStart(5)} ${figures(times)}`);

console.log(`${'milliseconds'.padEnd(58)} ${'times'.padStart(5)} ${'median'.padStart(8)} ${'95 %'.padStart(8)} ${'longest'.padStart(8)}`);
await measure(20, 'scrub');
const closed = await measure(SCRUBS, 'scrub');
line('scrub to a random instant, work and layout', closed.work);
line('scrub to a random instant, until the second frame', closed.frames);
await openPanel(page);
const open = await measure(SCRUBS, 'scrub');
line('the same with the panel open, work and layout', open.work);
const edits = await measure(EDITS, 'edit');
line('an intervention until the drawing is new, work and layout', edits.work);
line('an intervention, until the second frame', edits.frames);
line('the whole story simulated', (await measure(RUNS, 'simulate')).work);
line('leaseLab.run: simulated, printed and parsed as JSON', (await measure(RUNS, 'run')).work);
await closeBrowser();
