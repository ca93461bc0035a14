// Rule 13 with separate processes: workers are killed, and connections cut, while they have jobs; each job ends once, and its client learns why.
import { NfpClient } from '@proj/client';
import type { NfpJob } from '@proj/client';
import { fromLatin1, latin1 } from '@proj/frames';
import { ownEndpoint } from '@proj/testkit';
import type { PeerProcess } from '@proj/testkit';
import { ROUTER_PEER } from '@proj/transport';
import { describe, expect, it } from 'vitest';
import { program } from '../programs.js';
import type { Flags } from '../programs.js';
import { transport } from '../../transport.js';
import { CuttingRelay } from './relay.js';
import { stage } from './stage.js';

/** Longer than what happens to the worker while it works. */
const WORK_MS = 4000;
const JOBS = 6;

const theater = stage();

/** A broker whose settling time is over. */
async function broker(flags: Flags = {}): Promise<{ readonly endpoint: string }> {
  const endpoint = await ownEndpoint();
  const process = theater.launch(program('broker', { only: 'nfp', nfp: endpoint, 'nfp-settle-ms': 0, ...flags }));
  await process.line('listening');
  return { endpoint };
}

/** A worker that the broker has registered. */
async function worker(
  at: { readonly endpoint: string },
  name: string,
  flags: { readonly store: string; readonly connect?: string },
): Promise<PeerProcess> {
  const all = { protocol: 'nfp', service: 'sample', name, connect: at.endpoint, concurrency: 2 * JOBS, ...flags };
  const started = theater.launch(program('worker', all));
  await started.line('ready');
  return started;
}

function clientOf({ endpoint }: { readonly endpoint: string }): NfpClient {
  return theater.keep(new NfpClient({ transport, endpoints: [endpoint] }));
}

/** What events report about a job, as `status of worker`; complete when the job is. */
async function newsOf(job: NfpJob): Promise<string[]> {
  const news: string[] = [];
  for await (const { worker: who, status } of job.events())
    if (status === 'worker-lost' || status === 'worker-back' || status === 'redispatched')
      news.push(`${status} ${who}`);
  return news;
}

/** The end of a job: which worker reported which status. */
async function endOf(job: NfpJob): Promise<Record<string, number>> {
  const results = await job.done();
  return Object.fromEntries(Object.entries(results).map(([name, { status }]) => [name, status]));
}

async function sleepers(client: NfpClient, target: string | string[]): Promise<NfpJob[]> {
  const posts = Array.from({ length: JOBS }, () => client.post('sample', 'sleep', { args: [WORK_MS], target }));
  const jobs = await Promise.all(posts);
  await Promise.all(jobs.map(({ accepted }) => accepted));
  return jobs;
}

describe('a killed worker', () => {
  it('that does not return: another one does its job for any, once, and the client is notified', async () => {
    const at = await broker({ 'nfp-return-ms': 500 });
    const first = await worker(at, 'w1', { store: 'memory:' });
    await worker(at, 'w2', { store: 'memory:' });
    const jobs = await sleepers(clientOf(at), 'any');
    const [lost, safe] = [
      jobs.filter(({ workers }) => workers[0] === 'w1'),
      jobs.filter(({ workers }) => workers[0] === 'w2'),
    ];
    const news = lost.map(newsOf);
    first.kill('SIGKILL');
    expect(lost).toHaveLength(JOBS / 2);
    for (const job of [...safe, ...lost]) expect(await endOf(job)).toEqual({ w2: 200 });
    for (const each of await Promise.all(news)) expect(each).toEqual(['worker-lost w1', 'redispatched w1']);
  });

  it('that returns in time under its name continues with its jobs', async () => {
    const at = await broker();
    const store = `lmdb:${await theater.folder()}`;
    const first = await worker(at, 'w1', { store });
    await worker(at, 'w2', { store: 'memory:' });
    const jobs = await sleepers(clientOf(at), 'any');
    const lost = jobs.filter(({ workers }) => workers[0] === 'w1');
    const news = lost.map(newsOf);
    first.kill('SIGKILL');
    await first.exit;
    await worker(at, 'w1', { store });
    expect(lost).toHaveLength(JOBS / 2);
    for (const job of lost) expect(await endOf(job)).toEqual({ w1: 200 });
    for (const each of await Promise.all(news)) expect(each).toEqual(['worker-lost w1', 'worker-back w1']);
  });

  it.each([['all'], [['w1', 'w2']]])(
    'that had a job for %j: the client is notified at once, and gets 408 in its place',
    async (target) => {
      const at = await broker({ 'nfp-return-ms': 500 });
      const first = await worker(at, 'w1', { store: 'memory:' });
      await worker(at, 'w2', { store: 'memory:' });
      const [job] = (await sleepers(clientOf(at), target)) as [NfpJob, ...NfpJob[]];
      const events = job.events();
      first.kill('SIGKILL');
      for await (const { worker: who, status } of events) if (status === 'worker-lost' && who === 'w1') break;
      // No worker has reported an end yet.
      expect(job.said).toEqual([]);
      expect(await endOf(job)).toEqual({ w1: 408, w2: 200 });
      expect(job.said.map(({ worker: who }) => who)).toEqual(['w1', 'w2']);
    },
  );
});

describe('a connection that is cut and reconnects at once', () => {
  it('costs no job, and no GET meanwhile gets 400', async () => {
    const at = await broker();
    const relay = theater.keep(await CuttingRelay.to(at.endpoint));
    await worker(at, 'w1', { store: 'memory:', connect: relay.endpoint });
    await transport.load();
    const asker = theater.keep(new Asker(at.endpoint));
    asker.say('POST', 'u1', JSON.stringify({ task: 'sleep', args: [WORK_MS] }));
    await asker.until(() => asker.statuses.includes('201'));
    for (let cut = 0; cut < 3; cut++) {
      const before = relay.connections;
      relay.cut();
      // From before the broker notices until after the worker is back.
      for (let asked = 0; relay.connections === before || asked < 20; asked++) await asker.ask('u1');
    }
    while (!(await asker.ask('u1')).includes('200')) await asker.ask('u1');
    expect(asker.statuses).not.toContain('400');
    expect(asker.statuses).not.toContain('404');
    expect(relay.connections).toBeGreaterThanOrEqual(4);
  });
});

const COMMANDS = { POST: '0x04', GET: '0x06' } as const;

/** A client that keeps asking, and records every status it gets. */
class Asker {
  readonly statuses: string[] = [];
  readonly #port = transport.dealer({ routingId: fromLatin1('asker'), lingerMs: 0 });
  #look = (): void => {};

  constructor(endpoint: string) {
    this.#port.connect(endpoint);
    this.#port.start({
      onMessage: (_peer, frames) => {
        const [, , command = '', , , status = ''] = frames.map(latin1);
        if (command === '0x05') this.statuses.push(status);
        this.#look();
      },
      onPeerGone: () => {},
      onUndeliverable: () => {},
      onRejected: () => {},
      onBroken: () => {},
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#port.close();
  }

  say(command: keyof typeof COMMANDS, uuid: string, body: string): void {
    this.#port.send(ROUTER_PEER, ['', 'NFPC01', COMMANDS[command], 'sample', 'any', uuid, body].map(fromLatin1));
  }

  /** The answers to a GET, up to the first that may be its last. */
  async ask(uuid: string): Promise<readonly string[]> {
    const from = this.statuses.length;
    this.say('GET', uuid, '{}');
    await this.until(() => this.statuses.length > from);
    return this.statuses.slice(from);
  }

  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (holds()) resolve();
      };
      this.#look();
    });
  }
}
