/** The dashboard in Chromium, served by a program with invented data: 1,000 workers and 10,000 services. */
import { join } from 'node:path';
import { FAKE_TOKEN, startFakeServer } from '@proj/dashboard/fake-server';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { seriousFindings, SHOTS, show, startBrowser } from './browser.js';
import type { TestBrowser } from './browser.js';

const PHONE = { width: 390, height: 844 };
const VIEWS = [
  ['overview', '/'],
  ['services', '/services'],
  ['service', '/services/mdp/billing.charge'],
  ['workers', '/workers'],
  ['worker', '/workers/mdp/'],
  ['clients', '/clients'],
  ['client', '/clients/mdp/app-007'],
  ['queue', '/queue'],
  ['dead-letter', '/queue/dead/'],
  ['scheduler', '/scheduler'],
  ['notes', '/notes'],
  ['connections', '/connections'],
  ['not-found', '/nowhere'],
] as const;

let server: Awaited<ReturnType<typeof startFakeServer>>;
let browser: TestBrowser;
let worker: string;
let dead: string;

beforeAll(async () => {
  server = await startFakeServer();
  browser = await startBrowser();
  worker = Object.values(server.program.model.workers)[0]!.id;
  dead = Object.keys(server.program.model.deadLetters)[0]!;
});

afterAll(async () => {
  await browser.close();
  server.close();
});

/** The dashboard, live. It must have done nothing wrong when the test ends. */
async function openPage(options: Parameters<TestBrowser['open']>[1] = {}): Promise<Page> {
  const { page, errors } = await browser.open(server.url, options);
  onTestFinished(async () => {
    await page.context().close();
    expect(errors).toEqual([]);
  });
  await page.getByText('Live', { exact: true }).waitFor();
  return page;
}

const pathOf = (name: string, path: string) =>
  name === 'worker' ? path + worker : name === 'dead-letter' ? path + dead : path;

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  it('every view has a heading, nothing that axe calls serious, and a screenshot', async () => {
    const page = await openPage({ colorScheme });
    for (const [name, path] of VIEWS) {
      await show(page, pathOf(name, path));
      await page.screenshot({ path: join(SHOTS, `${name}-${colorScheme}.png`) });
      expect(await page.locator('main h1').count(), name).toBe(1);
      expect(await seriousFindings(page), name).toEqual([]);
    }
  });

  it('every view fits on a phone', async () => {
    const page = await openPage({ colorScheme, viewport: PHONE });
    for (const [name, path] of VIEWS) {
      await show(page, pathOf(name, path));
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
    await expect.poll(() => rate.textContent(), { timeout: 10_000 }).not.toBe(before);
  });

  it('leads from a fault to the culprit', async () => {
    const page = await openPage();
    await page.getByRole('link', { name: 'Flooding client' }).click();
    await page.getByRole('heading', { name: 'app-007' }).waitFor();
    expect(page.url()).toContain('#/clients/mdp/app-007');
  });

  it('shows that a killed worker goes, and returns', async () => {
    const page = await openPage();
    const { id } = Object.values(server.program.model.workers)[5]!;
    await show(page, `/workers/mdp/${id}`);
    await page.getByText('Last heard').waitFor();
    server.program.killWorker(`mdp/${id}`);
    await page.getByText('This worker is not connected.').waitFor();
    await page.getByText('Last heard').waitFor();
  });

  it('requeues a dead letter with the token, and not with another', async () => {
    const page = await openPage();
    await show(page, '/queue');
    await page.getByRole('link', { name: dead }).click();
    await page.getByText('"customer": "C-1042"').waitFor();
    await page.getByRole('button', { name: 'Requeue…' }).click();
    const requeue = page.getByRole('button', { name: 'Requeue the message' });
    expect(await requeue.isDisabled(), 'without a token').toBe(true);
    await page.getByLabel('Token').fill('a guess');
    await page.route('**/api/actions', async (route) => {
      // The browser writes a refusal into its console; that it came is asserted here.
      const answer = await route.fetch();
      await route.fulfill({ response: answer, status: answer.status() === 401 ? 403 : answer.status() });
    });
    await page.unroute('**/api/actions');
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(dead in server.program.model.deadLetters).toBe(true);
    await page.getByRole('button', { name: 'Requeue…' }).click();
    await page.getByLabel('Token').fill(FAKE_TOKEN);
    await page.screenshot({ path: join(SHOTS, 'dialog.png') });
    await requeue.click();
    await page.getByText('1 dead letter returned to the queue.').waitFor();
    await page.getByText('This message is no longer a dead letter').waitFor();
    expect(dead in server.program.model.deadLetters).toBe(false);
  });
});
