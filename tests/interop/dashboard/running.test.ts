/** The dashboard of real programs: what an operator sees and does, and the five usual faults, each planted. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PzqConsumer, PzqProducer } from '@proj/client';
import { isProjError, ROUTER_PEER } from '@proj/transport';
import { zmtpTransport } from '@proj/zmtp';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { smallDisk } from '../../chaos/pzq/small-disk.js';
import { seriousFindings, show, SHOTS, startBrowser } from './browser.js';
import type { TestBrowser } from './browser.js';
import { running, snapshots, TOKEN, within } from './running.js';
import type { SeenFault, ShownQueue } from './running.js';

/** Snapshots come once a second. */
const FIVE_SECONDS = 5;

/** `SCREENSHOT_REWRITE=1` replaces the pictures of the README, which have a minute of history. */
const REWRITES = process.env['SCREENSHOT_REWRITE'] === '1';
const PICTURES = REWRITES ? fileURLToPath(new URL('../../../docs/images/', import.meta.url)) : SHOTS;
const PICTURE_SECONDS = REWRITES ? 60 : 2;
const PICTURE_MAX_BYTES = 150_000;

const theater = running();
let browser: TestBrowser;

beforeAll(async () => {
  browser = await startBrowser();
});

afterAll(async () => {
  await browser.close();
});

/** Closed and checked while the programs still run: hooks run in reverse order. */
const pages: { readonly page: Page; readonly errors: readonly string[]; readonly refusals: number }[] = [];
afterEach(async () => {
  for (const { page, errors, refusals } of pages.splice(0)) {
    await page.context().close();
    expect(errors).toEqual(Array.from({ length: refusals }, () => expect.stringContaining('401') as unknown));
  }
});

/** The live dashboard of a program. `refusals`: how often the browser itself may report that the token was wrong. */
async function openPage(url: string, refusals = 0, options: BrowserContextOptions = {}): Promise<Page> {
  const { page, errors } = await browser.open(url, options);
  pages.push({ page, errors, refusals });
  await page.getByText('Live', { exact: true }).waitFor();
  return page;
}

const figure = (page: Page, name: string) => page.locator('.figure', { hasText: name }).locator('dd');

/** Resolves when a figure on the page shows this. */
async function shows(page: Page, name: string, text: string): Promise<void> {
  await page
    .locator('.figure', { hasText: name })
    .locator('dd', { hasText: new RegExp(`^${text}$`) })
    .waitFor();
}

describe('a running broker', () => {
  it('shows numbers that change, and nothing that axe calls serious', async () => {
    const broker = await theater.broker();
    await theater.echo(broker);
    const page = await openPage(broker.url);
    await shows(page, 'Workers', '1');
    const rate = figure(page, 'Requests per second');
    const idle = await rate.textContent();
    theater.load(broker, 4);
    await expect.poll(() => rate.textContent()).not.toBe(idle);
    const busy = await rate.textContent();
    await expect.poll(() => rate.textContent()).not.toBe(busy);
    await page.getByRole('link', { name: 'echo', exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.screenshot({ path: join(SHOTS, 'running-overview.png') });
  });

  it('shows that a killed worker disappears, and that another one takes its place', async () => {
    const broker = await theater.broker();
    const worker = await theater.echo(broker);
    const page = await openPage(broker.url);
    await show(page, '/workers', 'Workers');
    const link = page.locator('tbody a[href^="#/workers/mdp/"]');
    await link.click();
    await page.getByText('Last heard').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    worker.kill('SIGKILL');
    await page.getByText('This worker is not connected.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await show(page, '/workers', 'Workers');
    await page.getByText('No worker is connected.').waitFor();
    await theater.echo(broker);
    await link.waitFor();
    await show(page, '/', 'Overview');
    await shows(page, 'Workers', '1');
  });
});

it('the pictures of the README are of a running broker, and small', async () => {
  const broker = await theater.broker();
  await Promise.all([
    theater.echo(broker, 2, 'prices'),
    theater.echo(broker, 5, 'stock'),
    theater.echo(broker, 20, 'orders'),
    theater.echo(broker, 25, 'orders'),
    theater.echo(broker, 40, 'mail'),
  ]);
  const pass = async (seconds: number): Promise<void> => {
    let seen = 0;
    for await (const _ of snapshots(broker.url, AbortSignal.timeout(600_000))) if (seen++ >= seconds) return;
  };
  for (const [service, atOnce] of [
    ['prices', 1],
    ['stock', 2],
    ['orders', 6],
    ['mail', 1],
  ] as const) {
    theater.load(broker, atOnce, service);
    await pass(PICTURE_SECONDS / 4);
  }
  theater.load(broker, 1, 'reports');
  // A fault shows within five seconds, and the figures of ten look settled.
  await pass(PICTURE_SECONDS / 6);
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await openPage(broker.url, 0, { colorScheme });
    await page.getByRole('region', { name: 'Faults' }).getByRole('link', { name: 'No workers' }).waitFor();
    const path = join(PICTURES, `dashboard-${colorScheme}.png`);
    await page.screenshot({ path });
    expect(statSync(path).size).toBeLessThan(PICTURE_MAX_BYTES);
  }
});

describe('a running queue', () => {
  /** A queue with one dead letter, and a consumer for its messages. */
  async function withDeadLetter(): Promise<{ queue: ShownQueue; consumer: PzqConsumer }> {
    const queue = await theater.queue('memory:', { 'max-deliveries': 1 });
    const transport = zmtpTransport();
    const producer = theater.keep(new PzqProducer({ transport, endpoints: [queue.receive] }));
    // A consumer remembers what it has acknowledged; this one has acknowledged nothing.
    const consumer = theater.keep(new PzqConsumer({ transport, endpoints: [queue.send] }));
    await producer.send('{"order": 17}');
    const message = await consumer.receive();
    message?.nack();
    return { queue, consumer };
  }

  it('opens a dead letter, refuses to requeue it without the token, and requeues it with the token', async () => {
    const { queue, consumer } = await withDeadLetter();
    const page = await openPage(queue.url, 1);
    await show(page, '/queue', 'Queue');
    await page.locator('tbody a[href^="#/queue/dead/"]').click();
    await page.getByText('The body requires the token').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Requeue…' }).click();
    const requeue = page.getByRole('button', { name: 'Requeue the message' });
    const token = page.getByRole('textbox', { name: 'Token' });
    expect(await requeue.isDisabled()).toBe(true);
    await token.fill('a-guess-that-is-wrong');
    await requeue.click();
    await page.getByRole('alert').getByText('The program rejected the token.').waitFor();
    await token.fill(TOKEN);
    expect(await seriousFindings(page)).toEqual([]);
    await requeue.click();
    await page.getByText('Dead letters back in the queue: 1.').waitFor();
    await page.getByText('This message is no longer a dead letter').waitFor();
    const message = await consumer.receive();
    expect(String(message?.body[0])).toBe('{"order": 17}');
    message?.ack();
  });

  it('shows the body of a dead letter with the token, and logs the client', async () => {
    const { queue } = await withDeadLetter();
    const page = await openPage(queue.url);
    await page.getByRole('banner').getByRole('button', { name: 'Unlock' }).click();
    await page.getByRole('textbox', { name: 'Token' }).fill(TOKEN);
    await page.getByRole('dialog').getByRole('button', { name: 'Unlock' }).click();
    await show(page, '/queue', 'Queue');
    await page.locator('tbody a[href^="#/queue/dead/"]').click();
    await page.getByText('"order": 17').waitFor();
    await page.getByRole('button', { name: 'Discard…' }).click();
    await page.getByRole('button', { name: 'Discard the message' }).click();
    await page.getByText('This message is no longer a dead letter').waitFor();
    await queue.process.line('action over http', { action: 'discard-dead' });
  });
});

describe('a planted fault is named on the overview within five seconds, with a link to the culprit:', () => {
  /** Plants it, counts snapshots until the fault appears, and follows its link to a page with this heading. */
  async function seen(
    url: string,
    code: string,
    link: string,
    plant: () => unknown,
    heading: (fault: SeenFault) => string,
  ): Promise<SeenFault> {
    const page = await openPage(url);
    const { after, found } = await within(url, plant, ({ faults = {} }) => {
      return Object.values(faults).find((fault) => fault?.code === code) ?? undefined;
    });
    expect(after).toBeLessThanOrEqual(FIVE_SECONDS);
    const shown = page.getByRole('region', { name: 'Faults' }).getByRole('link', { name: link });
    await shown.waitFor();
    expect(await shown.getAttribute('href')).toBe(`#${found.href}`);
    expect(await seriousFindings(page)).toEqual([]);
    await page.screenshot({ path: join(SHOTS, `fault-${code}.png`) });
    await shown.click();
    await page.getByRole('heading', { level: 1, name: heading(found), exact: true }).waitFor();
    return found;
  }

  /** The id in a link such as `/workers/mdp/ID`. */
  const culprit = ({ href }: SeenFault): string => decodeURIComponent(href.split('/').at(-1) ?? '');

  it('a slow worker', async () => {
    const broker = await theater.broker();
    await Promise.all([theater.echo(broker), theater.echo(broker)]);
    theater.load(broker, 8);
    await within(
      broker.url,
      () => undefined,
      ({ services = {} }) => Object.values(services).find((row) => (row?.work.count ?? 0) > 100),
    );
    const plant = () => theater.echo(broker, 300);
    const { text } = await seen(broker.url, 'slow-worker', 'Slow worker', plant, culprit);
    expect(text).toMatch(/^Worker \S+ \(echo\) takes about \d+ ms for a job; the median is \d+ ms/);
  });

  it('a stuck worker', async () => {
    const broker = await theater.broker();
    await theater.echo(broker);
    const client = theater.client(broker);
    for (let count = 0; count < 100; count++) await client.request('echo', 'hello');
    const plant = () => void client.request('echo', 'stuck').catch(() => undefined);
    const { text } = await seen(broker.url, 'stuck-worker', 'Stuck worker', plant, culprit);
    expect(text).toMatch(/^Worker \S+ \(echo\) has finished nothing for \d\.\d s/);
  });

  it('a flooding client', async () => {
    const broker = await theater.broker();
    const transport = zmtpTransport();
    const flood = transport.dealer({ routingId: Buffer.from('flooder') });
    onTestFinished(() => flood.close({ lingerMs: 0 }));
    flood.connect(broker.endpoint);
    const ignore = (): undefined => undefined;
    const listener = { onMessage: ignore, onPeerGone: ignore, onUndeliverable: ignore, onRejected: ignore };
    flood.start({ ...listener, onBroken: ignore });
    const garbage = ['', 'MDPC99', 'what'].map((text) => Buffer.from(text));
    let timer: NodeJS.Timeout | undefined;
    onTestFinished(() => clearInterval(timer));
    const plant = (): void => {
      timer = setInterval(() => {
        for (let count = 0; count < 10; count++) flood.send(ROUTER_PEER, garbage);
      }, 50);
    };
    const { text } = await seen(broker.url, 'flooding-client', 'Flooding client', plant, culprit);
    expect(text).toMatch(/^Client \S*flooder\S* sends \d+ messages per second that are rejected/);
  });

  it('a service without workers', async () => {
    const broker = await theater.broker();
    const client = theater.client(broker);
    const plant = () => void client.request('nobody-home', 'hello').catch(() => undefined);
    const { text } = await seen(broker.url, 'service-without-workers', 'No workers', plant, () => 'nobody-home');
    expect(text).toMatch(/^Service nobody-home has no workers; 1 requests are waiting/);
  });

  it('a queue whose disk is full', async ({ skip }) => {
    const disk = smallDisk();
    if (disk === undefined) return skip('a small disk needs its own tmpfs, which only root may mount');
    theater.keep(disk);
    const queue = await theater.queue(`lmdb:${join(disk.folder, 'queue')}`);
    const producer = theater.keep(new PzqProducer({ transport: zmtpTransport(), endpoints: [queue.receive] }));
    const body = Buffer.alloc(100_000, 7);
    // Repeatedly, until the producer is closed: while nobody sends, the queue notices that a small message still fits.
    const send = async (): Promise<void> => {
      for (;;)
        await producer.send(body).catch((error: unknown) => {
          if (!isProjError(error, 'REJECTED')) throw error;
        });
    };
    const fill = (): void => {
      for (let count = 0; count < 32; count++) send().catch(() => undefined);
    };
    const { text } = await seen(queue.url, 'disk-full', 'Disk full', fill, () => 'Queue');
    expect(text).toContain('ENOSPC');
  });
});
