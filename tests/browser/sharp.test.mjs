// The clock graph is sharp, not blank, and in the colours of the theme.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answer, canvasPicture, clocks, drawn, eventually, graphDrawn, withPages } from './lab.mjs';

/** How many of the canvas's pixels have the colour of a worker, as the style sheet says it. */
const pixelsOf = (page, worker) =>
  page.locator('canvas').evaluate((canvas, worker) => {
    const value = getComputedStyle(document.documentElement).getPropertyValue(`--worker-${worker}`).trim();
    const colour = [1, 3, 5].map((at) => parseInt(value.slice(at, at + 2), 16));
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (colour.every((part, place) => Math.abs(part - data[at + place]) < 4) && data[at + 3] > 250) {
        count += 1;
      }
    }
    return count;
  }, worker);

const sizes = (page) =>
  page.locator('canvas').evaluate((canvas) => ({
    backing: [canvas.width, canvas.height],
    css: [canvas.clientWidth, canvas.clientHeight],
  }));

for (const scale of [1, 2, 3, 1.5]) {
  test(`at ${scale} device pixels for a CSS pixel the canvas has ${scale} pixels for one`, withPages(async (open) => {
    const page = await open('', { deviceScaleFactor: scale });
    await graphDrawn(page);
    await drawn(page);
    const { backing, css } = await sizes(page);
    assert.ok(css[0] > 400 && css[1] === 260, css.join(' × '));
    assert.deepEqual(backing, css.map((length) => Math.round(length * scale)));
    // A line as long as the time that is shown, and as wide as at any scale.
    const count = await pixelsOf(page, 'a');
    assert.ok(count > 120 * scale * scale, `${count} pixels`);
  }));
}

test('it follows the width of the window', withPages(async (open) => {
  const page = await open('', { deviceScaleFactor: 2 });
  await graphDrawn(page);
  for (const width of [700, 320, 1600]) {
    await page.setViewportSize({ width, height: 900 });
    await eventually(async () => {
      const { backing, css } = await sizes(page);
      assert.ok(css[0] < width && css[0] > width / 4);
      assert.deepEqual(backing, css.map((length) => length * 2));
    });
    await drawn(page);
    assert.ok((await pixelsOf(page, 'a')) > 100, `blank at ${width} px`);
  }
}));

test('it shows each worker in its colour, before and after the answer', withPages(async (open) => {
  const page = await open('', { deviceScaleFactor: 2 });
  await graphDrawn(page);
  await drawn(page);
  const before = await pixelsOf(page, 'a');
  await answer(page);
  await eventually(async () => assert.ok((await pixelsOf(page, 'a')) > before * 1.5, 'the line does not go on'));
  for (const worker of ['b', 'c', 'd']) {
    await clocks(page).getByRole('button', { name: worker.toUpperCase(), exact: true }).click();
    await eventually(async () => assert.ok((await pixelsOf(page, worker)) > 500, worker));
    assert.ok((await pixelsOf(page, 'a')) < 20, 'A’s line is still there');
  }
}));

test('it is drawn anew in the colours of another theme', withPages(async (open) => {
  const page = await open('?t=20', { deviceScaleFactor: 2, colorScheme: 'light' });
  await graphDrawn(page);
  await drawn(page);
  const pictures = [await canvasPicture(page)];
  const themes = page.getByRole('combobox', { name: 'Colours' });
  for (const change of [
    () => themes.selectOption('Dark'),
    () => themes.selectOption('Light'),
    () => themes.selectOption('System colours'),
    () => page.emulateMedia({ colorScheme: 'dark' }),
    () => page.emulateMedia({ colorScheme: 'light' }),
  ]) {
    await change();
    await drawn(page);
    await eventually(async () => assert.ok((await pixelsOf(page, 'a')) > 500, 'it has the colour of another theme'));
    pictures.push(await canvasPicture(page));
  }
  const [light, dark, ...rest] = pictures;
  assert.notEqual(dark, light);
  assert.deepEqual(rest.map((picture) => [light, dark].indexOf(picture)), [0, 0, 1, 0]);
}));

test('on a dark system it is dark from the start', withPages(async (open) => {
  const page = await open('', { deviceScaleFactor: 2, colorScheme: 'dark' });
  await graphDrawn(page);
  await drawn(page);
  assert.ok((await pixelsOf(page, 'a')) > 500);
  const brightness = await page.evaluate(() =>
    getComputedStyle(document.body).backgroundColor.match(/\d+/g).reduce((sum, part) => sum + Number(part), 0) / 3);
  assert.ok(brightness < 80, `the ground has ${brightness} of 255`);
}));
