/** The dashboard in Chromium, served by a program with invented data: 1,000 workers and 10,000 services. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { FAKE_TOKEN, startFakeServer } from '@proj/dashboard/fake-server';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { seriousFindings, SHOTS, show, startBrowser } from './browser.js';
import type { TestBrowser } from './browser.js';

/** Rows that the fake data always contains. */
const WORKER = 'gold-0003';
const DEAD = '0192f13dde';
const BINARY = '0192f11eef';
const REQUEUED = '0192f10000';
const PHONE = { width: 390, height: 844 };
/** A name for the screenshots, the link, the heading. */
const VIEWS = [
  ['overview', '/', 'Overview'],
  ['services', '/services', 'Services'],
  ['service', '/services/mdp/billing.charge', 'billing.charge'],
  ['workers', '/workers', 'Workers'],
  ['worker', `/workers/mdp/${WORKER}`, WORKER],
  ['clients', '/clients', 'Clients'],
  ['client', '/clients/mdp/app-007', 'app-007'],
  ['queue', '/queue', 'Queue'],
  ['dead-letter', `/queue/dead/${DEAD}`, DEAD],
  ['scheduler', '/scheduler', 'Scheduler'],
  ['notes', '/notes', 'Notes'],
  ['notes-of-peer', '/notes?peer=app-007', 'Notes'],
  ['connections', '/connections', 'Connections'],
  ['not-found', '/nowhere', 'No such view'],
] as const;

let server: Awaited<ReturnType<typeof startFakeServer>>;
let browser: TestBrowser;

beforeAll(async () => {
  server = await startFakeServer();
  browser = await startBrowser();
});

afterAll(async () => {
  await browser.close();
  server.close();
});

/** The live dashboard. The test checks at its end that there were no errors. */
async function openPage(options: Parameters<TestBrowser['open']>[1] = {}): Promise<Page> {
  const { page, errors } = await browser.open(server.url, options);
  onTestFinished(async () => {
    await page.context().close();
    expect(errors).toEqual([]);
  });
  await page.getByText('Live', { exact: true }).waitFor();
  return page;
}

async function unlock(page: Page, token: string): Promise<void> {
  await page.getByRole('banner').getByRole('button', { name: 'Unlock' }).click();
  await page.getByRole('textbox', { name: 'Token' }).fill(token);
  await page.getByRole('dialog').getByRole('button', { name: 'Unlock' }).click();
}

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  it('every view has a heading, a screenshot, and nothing that axe calls serious', async () => {
    const page = await openPage({ colorScheme });
    for (const [name, path, heading] of VIEWS) {
      await show(page, path, heading);
      await page.screenshot({ path: join(SHOTS, `${name}-${colorScheme}.png`) });
      expect(await page.locator('main h1').count(), name).toBe(1);
      expect(await seriousFindings(page), name).toEqual([]);
    }
  });

  it('every view fits on a phone', async () => {
    const page = await openPage({ colorScheme, viewport: PHONE });
    for (const [name, path, heading] of VIEWS) {
      await show(page, path, heading);
      await page.screenshot({ path: join(SHOTS, `${name}-${colorScheme}-phone.png`) });
      expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(PHONE.width);
      expect(await seriousFindings(page), name).toEqual([]);
    }
  });
});

describe('the dashboard', () => {
  it('shows numbers that change', async () => {
    const page = await openPage();
    const rate = page.locator('.figure', { hasText: 'Requests per second' }).locator('dd');
    const before = await rate.textContent();
    await expect.poll(() => rate.textContent()).not.toBe(before);
  });

  it('leads from a fault to its cause', async () => {
    const page = await openPage();
    await page.getByRole('link', { name: 'Flooding client' }).click();
    await page.getByRole('heading', { name: 'app-007' }).waitFor();
    expect(page.url()).toContain('#/clients/mdp/app-007');
  });

  it('shows that a killed worker disappears, and returns', async () => {
    const page = await openPage();
    const { id } = Object.values(server.program.model.workers)[5]!;
    await show(page, `/workers/mdp/${id}`, id);
    await page.getByText('Last heard').waitFor();
    server.program.killWorker(`mdp/${id}`);
    await page.getByText('This worker is not connected.').waitFor();
    await page.getByText('Last heard').waitFor();
  });

  it('finds one of 10,000 services, and renders only the visible rows', async () => {
    const page = await openPage();
    await show(page, '/services', 'Services');
    const rows = page.locator('tbody tr:not(.gap)');
    expect(await rows.count()).toBeLessThan(80);
    await page.evaluate("document.querySelector('.scroller').scrollTo(0, 1e9)");
    await page.locator('tr[aria-rowindex="10001"]').waitFor();
    expect(await rows.count()).toBeLessThan(80);
    await page.keyboard.press('/');
    await page.keyboard.type('stock merge-124');
    await page.getByText('1 of 10,000').waitFor();
    expect(page.url()).toContain('#/services?q=stock%20merge-124');
    await page.getByRole('link', { name: 'stock.merge-124' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'stock.merge-124' }).waitFor();
  });

  it('sorts by a column when its heading is clicked, and says how', async () => {
    const page = await openPage();
    await show(page, '/clients', 'Clients');
    const head = page.getByRole('columnheader', { name: 'Client' });
    await head.getByRole('button').press('Enter');
    expect(await head.getAttribute('aria-sort')).toBe('ascending');
    expect(await page.locator('tbody td').first().textContent()).toBe('app-000');
    await head.getByRole('button').press('Enter');
    expect(await head.getAttribute('aria-sort')).toBe('descending');
    expect(await page.locator('tbody td').first().textContent()).toBe('app-119');
  });

  it('requeues a dead letter with the token', async () => {
    const page = await openPage();
    await show(page, '/queue', 'Queue');
    await page.getByRole('link', { name: REQUEUED }).click();
    await page.getByText('The body requires the token').waitFor();
    await page.getByRole('button', { name: 'Requeue…' }).click();
    await page.getByRole('textbox', { name: 'Token' }).fill(FAKE_TOKEN);
    await page.screenshot({ path: join(SHOTS, 'dialog.png') });
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Requeue the message' }).click();
    await page.getByText('1 dead letter returned to the queue.').waitFor();
    await page.getByText('This message is no longer a dead letter').waitFor();
    await expect.poll(() => REQUEUED in server.program.model.deadLetters).toBe(false);
  });

  it('shows the body of a dead letter with the token, as text or as bytes', async () => {
    const page = await openPage();
    await unlock(page, FAKE_TOKEN);
    await show(page, `/queue/dead/${DEAD}`, DEAD);
    await page.getByText('"customer": "C-1042"').waitFor();
    await show(page, `/queue/dead/${BINARY}`, BINARY);
    await page.getByRole('region', { name: 'Body as hex' }).getByText('000010  50 75').waitFor();
  });

  it('does nothing without a token, or with a wrong one', async () => {
    const { page, errors } = await browser.open(server.url);
    await page.getByText('Live', { exact: true }).waitFor();
    await show(page, `/queue/dead/${DEAD}`, DEAD);
    await page.getByRole('button', { name: 'Requeue…' }).click();
    const requeue = page.getByRole('button', { name: 'Requeue the message' });
    expect(await requeue.isDisabled()).toBe(true);
    await page.getByRole('textbox', { name: 'Token' }).fill('a guess');
    await requeue.click();
    await page.getByRole('alert').getByText('The program rejected the token.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Token' }).inputValue()).toBe('');
    expect(DEAD in server.program.model.deadLetters).toBe(true);
    // The browser itself reports the refusal.
    expect(errors).toEqual([expect.stringContaining('401')]);
    await page.context().close();
  });

  it('asks for the token if nothing is shown without it', async () => {
    const locked = await startFakeServer({ isLocked: true });
    onTestFinished(locked.close);
    const { page } = await browser.open(locked.url);
    for (const token of ['a guess', FAKE_TOKEN]) {
      await page.getByRole('heading', { name: 'A token is needed' }).waitFor({ state: 'attached' });
      await unlock(page, token);
    }
    await page.getByText('Live', { exact: true }).waitFor();
    await page.context().close();
  });

  it('forgets the token on reload', async () => {
    const page = await openPage();
    await unlock(page, FAKE_TOKEN);
    await page.getByRole('button', { name: 'Lock', exact: true }).waitFor();
    expect(
      await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])'),
    ).not.toContain(FAKE_TOKEN);
    await page.reload();
    await page.getByRole('button', { name: 'Unlock' }).waitFor();
  });

  it('switches to dark mode, and remembers it', async () => {
    const page = await openPage();
    const theme = page.getByRole('button', { name: 'Theme' });
    await theme.click();
    await theme.click();
    const scheme = 'getComputedStyle(document.documentElement).colorScheme';
    expect(await page.evaluate(scheme)).toBe('dark');
    await page.reload();
    expect(await page.evaluate(scheme)).toBe('dark');
  });

  it('says that the connection is lost, and continues when the program is back', async () => {
    const page = await openPage();
    server.cut();
    await page.getByText('Connection lost, trying again').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  });
});

it('is smaller than 150 kB, compressed', () => {
  const dist = dirname(createRequire(import.meta.url).resolve('@proj/dashboard/package.json')) + '/dist';
  const files = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.map((entry) => gzipSync(readFileSync(join(entry.parentPath, entry.name))).length);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(150_000);
});
