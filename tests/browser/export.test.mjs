// A run taken along: as a picture, as data, as a test, as code for another page.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { ADDRESS, commandLine, eventually, withPages } from './lab.mjs';

let body = '';
const server = createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(`<!doctype html><html lang="en"><title>Empty</title><link rel="icon" href="data:,"><body>${body}</body></html>`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
after(() => server.close());

async function openLab(blank, query) {
  const page = await blank({ acceptDownloads: true });
  await page.goto(`${ADDRESS}?${query}`);
  await page.getByRole('heading', { name: 'Take it with you' }).waitFor();
  return page;
}

async function saved(page, name) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
  return { name: download.suggestedFilename(), content: await readFile(await download.path()) };
}

test('the trace is the command line’s, and the log is what ShiViz reads', withPages(async (open, blank) => {
  const page = await openLab(blank, `lab=zombie&do=${encodeURIComponent('4 pause A 8')}`);
  const json = await saved(page, 'Trace as JSON');
  assert.equal(json.name, 'lease-lab-zombie.json');
  const expected = await commandLine('run', 'zombie', '--plain', '--do', '4 pause A 8', '--format', 'json');
  assert.deepEqual(JSON.parse(json.content), expected);

  const log = String((await saved(page, 'Log for ShiViz')).content);
  const shown = await page.locator('.export code').textContent();
  const events = [...log.matchAll(new RegExp(shown.replaceAll('?<', '?<'), 'g'))];
  assert.ok(events.length > 20, `${events.length} events`);
  for (const { groups } of events) {
    const clock = JSON.parse(groups.clock);
    assert.ok(clock[groups.host] > 0, groups.clock);
  }
}));

test('the timeline is a picture that stands alone', withPages(async (open, blank) => {
  const page = await openLab(blank, 'lab=zombie&theme=dark');
  const svg = String((await saved(page, 'Timeline as SVG')).content);
  assert.match(svg, /^<svg[^>]* xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  for (const part of ['Worker A', '--worker-a:', 'id="hatch"']) {
    assert.ok(svg.includes(part), part);
  }
  assert.ok(!/<script|href=/.test(svg));
  const png = (await saved(page, 'Timeline as PNG')).content;
  assert.deepEqual([...png.subarray(1, 4)], [...Buffer.from('PNG')]);
  // Twice as fine as it is drawn.
  const drawn = Number(await page.locator('.timeline svg').first().getAttribute('width'));
  assert.equal(png.readUInt32BE(16), Math.floor(drawn) * 2);
}));

test('the test that is exported names this run', withPages(async (open, blank) => {
  const page = await openLab(blank, `lab=zombie&do=${encodeURIComponent('4 pause A 8')}`);
  const rust = String((await saved(page, 'Run as a Rust test')).content);
  const { hash } = await commandLine('run', 'zombie', '--plain', '--do', '4 pause A 8', '--format', 'json');
  assert.ok(rust.includes('"4 pause A 8",') && rust.includes(`assert_eq!(run.hash(), "${hash}");`));
}));

test('what is pasted into an empty page works there', withPages(async (open, blank) => {
  const page = await openLab(blank, `lab=margin&do=${encodeURIComponent('4 pause A 8')}&t=7`);
  const hash = await page.evaluate(() => window.leaseLab.hash);
  for (const kind of ['Frame', 'Element']) {
    body = await page.getByLabel(kind, { exact: true }).inputValue();
    const parent = await blank();
    await parent.goto(`http://127.0.0.1:${server.address().port}/`);
    await parent.frameLocator('iframe').getByRole('button', { name: 'Play', exact: true }).waitFor();
    const frame = parent.frames().find((frame) => frame.url().startsWith(ADDRESS));
    await eventually(async () => {
      assert.deepEqual(await frame.evaluate(() => [window.leaseLab.hash, window.leaseLab.state().t]), [hash, 7], kind);
    });
    await parent.close();
  }
}));
