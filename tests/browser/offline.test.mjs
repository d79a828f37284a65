// The page in one file: opened from the disk, with every lab and every drill, and without a network.

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { commandLine, graphDrawn, listOfLabs, withPages } from './lab.mjs';

const PATH = join(process.env.LEASE_LAB_DIST, 'lease-lab-offline.html');
const FILE = pathToFileURL(PATH).href;
const WITHOUT_NETWORK = { offline: true, reducedMotion: 'reduce' };

test('it is one file of bearable size', () => {
  const megabytes = statSync(PATH).size / 2 ** 20;
  assert.ok(megabytes > 1 && megabytes < 4, `${megabytes} MB`);
});

test('every lab opens from the disk', withPages(async (open, blank) => {
  const page = await blank(WITHOUT_NETWORK);
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  for (const lab of await listOfLabs()) {
    await page.goto(`${FILE}?lab=${lab.id}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    if (lab.runs) {
      await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    }
  }
  const outside = asked.filter((url) => !url.startsWith(FILE) && !/^(blob|data):/.test(url));
  assert.deepEqual(outside, []);
}));

test('it comes to what the command line comes to, and draws its graph', withPages(async (open, blank) => {
  const page = await blank(WITHOUT_NETWORK);
  for (const id of ['billing-story', 'redlock-clock', 'storm']) {
    await page.goto(`${FILE}?lab=${id}`);
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    const { hash } = await commandLine('run', id, '--format', 'json');
    assert.equal(await page.evaluate(() => window.leaseLab.hash), hash, id);
  }
  await page.goto(`${FILE}?lab=two-clocks`);
  await graphDrawn(page);
}));

test('drills work from the disk', withPages(async (open, blank) => {
  const page = await blank(WITHOUT_NETWORK);
  await page.goto(`${FILE}?drill`);
  await page.getByRole('link', { name: 'A write after the pause' }).click();
  await page.getByRole('radio').first().check();
  await page.getByRole('button', { name: 'Commit to this' }).click();
  await page.locator('#result-title').waitFor();
  await page.getByRole('link', { name: 'All drills' }).last().click();
  await page.getByText(/^1 of \d+/).waitFor();
}));

test('after one visit the page needs no network, and never mixes versions', withPages(async (open, blank) => {
  // A context of its own: what it keeps must not meet other tests.
  const page = await blank({ reducedMotion: 'reduce', locale: 'en-GB' });
  await page.goto(process.env.LEASE_LAB_URL);
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await page.context().setOffline(true);
  for (const query of ['', '?lab=redlock-clock', '?drill=late-write']) {
    await page.goto(`${process.env.LEASE_LAB_URL}${query}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
  }
  const versions = await page.evaluate(() => caches.keys());
  assert.equal(versions.filter((name) => name.startsWith('lease-lab-')).length, 1);
  await page.context().setOffline(false);
// Each visit asks the network first, in vain.
}, [/ERR_INTERNET_DISCONNECTED/]));
