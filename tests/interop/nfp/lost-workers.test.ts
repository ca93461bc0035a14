// Rule 13 with foreign peers: clients and workers in Python, and a broker in a separate process. Workers are killed, and connections cut, while they have jobs; outcomes are counted.
import { ownEndpoint } from '@proj/testkit';
import type { PeerLine, PeerProcess } from '@proj/testkit';
import { describe, expect, it } from 'vitest';
import { pythonPeer } from '../python.js';
import { program } from '../../chaos/programs.js';
import type { Flags } from '../../chaos/programs.js';
import { CuttingRelay } from '../../chaos/nfp/relay.js';
import { stage } from '../../chaos/nfp/stage.js';

const JOBS = 6;
const RETURN_MS = 500;

const theater = stage();

/** A broker whose settling time is over. Silence decides nothing here: a killed process closes its connection. */
async function broker(flags: Flags = {}): Promise<string> {
  const endpoint = await ownEndpoint();
  const terms = { 'nfp-settle-ms': 0, 'heartbeat-ms': 500, liveness: 20 };
  const process = theater.launch(program('broker', { only: 'nfp', nfp: endpoint, ...terms, ...flags }));
  await process.line('listening');
  return endpoint;
}

/** A worker that has sent READY. */
async function worker(connect: string, name: string, store?: string): Promise<PeerProcess> {
  const peer = theater.launch(pythonPeer('nfp', 'stayer', { connect, name, store }));
  await peer.line('ready');
  return peer;
}

/** A client, and everything that it receives. */
class Client {
  readonly #peer: PeerProcess;

  constructor(connect: string) {
    this.#peer = theater.launch(pythonPeer('nfp', 'client', { connect, name: 'asker' }));
  }

  say(command: 'POST' | 'GET', uuid: string, target: string): void {
    this.#peer.tell({ do: command, service: 'sample', target, uuid, body: '{}' });
  }

  /** Asks until the broker lists this many workers. */
  async sees(count: number): Promise<void> {
    for (let turn = 0; ; turn++) {
      const uuid = `m${turn}`;
      this.#peer.tell({
        do: 'GET',
        service: 'mmi.service.broker',
        target: 'all',
        uuid,
        body: '{"task":"show_workers"}',
      });
      const { body } = await this.#peer.line('answer', { uuid });
      const named = (JSON.parse(String(body)) as { readonly name: string }[]).filter(({ name }) => name !== '');
      if (named.length === count) return;
    }
  }

  /** Jobs that workers have accepted, by worker. */
  async post(target: string, count = JOBS, workers = 1): Promise<Map<string, string>> {
    const uuids = Array.from({ length: count }, (_, i) => `job-${i}`);
    for (const uuid of uuids) this.say('POST', uuid, target);
    const accepted = new Map<string, string>();
    for (const uuid of uuids) {
      const line = await this.#peer.line('answer', { uuid, status: '201' }, workers);
      accepted.set(uuid, workerOf(line));
    }
    return accepted;
  }

  /** The broker's events about a job, the first `count`, as `status of worker`. */
  async news(uuid: string, count: number): Promise<string[]> {
    const isFate = ({ status }: Said): boolean => /^(worker-lost|worker-back|redispatched)$/.test(status);
    for (let nth = 1; ; nth++) {
      const fates = this.#peer.lines('answer', { uuid, command: 'EVENT' }).map(saidIn).filter(isFate);
      if (fates.length >= count) return fates.map(({ status, worker: who }) => `${status} ${who}`);
      await this.#peer.line('answer', { uuid, command: 'EVENT' }, nth);
    }
  }

  /** The first answer to a GET, which may be lost on its way: status, and its sender. */
  async ask(uuid: string): Promise<string> {
    const response = { uuid, command: 'RESPONSE' };
    const before = this.#peer.lines('answer', response).length;
    this.say('GET', uuid, 'any');
    const line = await this.#peer.line('answer', response, before + 1);
    return `${String(line['status'])} by ${workerOf(line)}`;
  }

  answer(uuid: string, status: string, nth = 1): Promise<PeerLine> {
    return this.#peer.line('answer', { uuid, status }, nth);
  }

  /** Asks until no worker is still running it; returns which worker has which result. */
  async results(uuid: string, target: string, count: number): Promise<string[]> {
    for (;;) {
      const before = this.#peer.lines('answer', { uuid, status: '200', command: 'RESPONSE' }).length;
      const pending = this.#peer.lines('answer', { uuid, status: '300' }).length;
      this.say('GET', uuid, target);
      const last = this.#peer.line('answer', { uuid, status: '200', command: 'RESPONSE' }, before + count);
      last.catch(() => undefined);
      const later = this.#peer.line('answer', { uuid, status: '300' }, pending + 1);
      later.catch(() => undefined);
      await Promise.race([last, later]);
      const said = this.#peer.lines('answer', { uuid, status: '200', command: 'RESPONSE' }).slice(before);
      // An earlier GET may be answered with it as well.
      if (said.length >= count) return [...new Set(said.map((line) => String(saidIn(line).result)))].sort();
    }
  }

  /** How often each status was received for a job. */
  statuses(uuid: string): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { status, command } of this.#peer.lines('answer', { uuid }))
      if (command === 'RESPONSE') counts[String(status)] = (counts[String(status)] ?? 0) + 1;
    return counts;
  }
}

interface Said {
  readonly status: string;
  readonly worker: string;
  readonly result?: string;
}

function saidIn({ body }: PeerLine): Said {
  return JSON.parse(String(body)) as Said;
}

function workerOf(line: PeerLine): string {
  return saidIn(line).worker;
}

function heldBy(name: string, jobs: ReadonlyMap<string, string>): string[] {
  return [...jobs].filter(([, who]) => who === name).map(([uuid]) => uuid);
}

describe('a killed worker in Python', () => {
  it('that does not return: another one does its job for any, once, and its client is notified', async () => {
    const endpoint = await broker({ 'nfp-return-ms': RETURN_MS });
    const [first, second] = [await worker(endpoint, 'w1'), await worker(endpoint, 'w2')];
    const client = new Client(endpoint);
    await client.sees(2);
    const jobs = await client.post('any');
    const lost = heldBy('w1', jobs);
    expect(lost).toHaveLength(JOBS / 2);
    first.kill('SIGKILL');
    for (const uuid of lost) expect(await client.news(uuid, 2)).toEqual(['worker-lost w1', 'redispatched w1']);
    for (const uuid of lost) await client.answer(uuid, '201', 2);
    second.tell({ do: 'finish' });
    await second.line('finished', { jobs: JOBS });
    for (const uuid of jobs.keys()) {
      expect(await client.results(uuid, 'any', 1)).toEqual([`${uuid} by w2`]);
      expect(client.statuses(uuid)).toMatchObject({ 200: 1, 201: lost.includes(uuid) ? 2 : 1 });
      expect(client.statuses(uuid)).not.toHaveProperty('400');
      expect(client.statuses(uuid)).not.toHaveProperty('404');
    }
    for (const uuid of jobs.keys()) expect(second.lines('call', { command: 'POST', uuid })).toHaveLength(1);
  });

  it.each(['all', '["w1","w2"]'])(
    'that had a job for %s: its client is notified at once, and gets 408 in its place',
    async (target) => {
      const endpoint = await broker({ 'nfp-return-ms': RETURN_MS });
      const [first, second] = [await worker(endpoint, 'w1'), await worker(endpoint, 'w2')];
      const client = new Client(endpoint);
      await client.sees(2);
      const jobs = await client.post(target, JOBS, 2);
      first.kill('SIGKILL');
      for (const uuid of jobs.keys()) {
        expect(await client.news(uuid, 1)).toEqual(['worker-lost w1']);
        expect(saidIn(await client.answer(uuid, '408'))).toMatchObject({ worker: 'w1', status: 'FAILED' });
      }
      second.tell({ do: 'finish' });
      await second.line('finished', { jobs: JOBS });
      for (const uuid of jobs.keys()) {
        expect(await client.results(uuid, 'w2', 1)).toEqual([`${uuid} by w2`]);
        expect(client.statuses(uuid)).toMatchObject({ 200: 1, 201: 2, 408: 1 });
      }
    },
  );

  it('that returns in time under its name continues its jobs, which no other worker gets', async () => {
    const endpoint = await broker({ 'nfp-return-ms': 60_000 });
    const store = await theater.folder();
    const [first, second] = [await worker(endpoint, 'w1', store), await worker(endpoint, 'w2')];
    const client = new Client(endpoint);
    await client.sees(2);
    const jobs = await client.post('any');
    const lost = heldBy('w1', jobs);
    first.kill('SIGKILL');
    await first.exit;
    for (const uuid of lost) await client.news(uuid, 1);
    const again = await worker(endpoint, 'w1', store);
    for (const uuid of lost) expect(await client.news(uuid, 2)).toEqual(['worker-lost w1', 'worker-back w1']);
    again.tell({ do: 'finish' });
    await again.line('finished', { jobs: JOBS / 2 });
    for (const uuid of lost) {
      expect(await client.results(uuid, 'any', 1)).toEqual([`${uuid} by w1`]);
      expect(second.lines('call', { uuid })).toEqual([]);
      expect(client.statuses(uuid)).not.toHaveProperty('408');
    }
  });

  it('that returns without its store no longer knows its jobs: those for any go to another one', async () => {
    const endpoint = await broker({ 'nfp-return-ms': 60_000 });
    const [first, second] = [await worker(endpoint, 'w1'), await worker(endpoint, 'w2')];
    const client = new Client(endpoint);
    await client.sees(2);
    const jobs = await client.post('any');
    const lost = heldBy('w1', jobs);
    first.kill('SIGKILL');
    for (const uuid of lost) await client.news(uuid, 1);
    const again = await worker(endpoint, 'w1');
    for (const uuid of lost) await client.news(uuid, 2);
    for (const uuid of lost) client.say('GET', uuid, 'any');
    for (const uuid of lost)
      expect(await client.news(uuid, 3)).toEqual(['worker-lost w1', 'worker-back w1', 'redispatched w1']);
    for (const uuid of lost) await client.answer(uuid, '201', 2);
    second.tell({ do: 'finish' });
    await second.line('finished', { jobs: JOBS });
    for (const uuid of lost) {
      expect(await client.results(uuid, 'any', 1)).toEqual([`${uuid} by w2`]);
      expect(client.statuses(uuid)).not.toHaveProperty('404');
      expect(again.lines('call', { command: 'POST', uuid })).toEqual([]);
    }
  });
});

describe('a connection of a worker in Python that is cut and reconnects at once', () => {
  it('costs no job, and no GET meanwhile gets 400 or 404', async () => {
    const endpoint = await broker();
    const relay = theater.keep(await CuttingRelay.to(endpoint));
    const only = await worker(relay.endpoint, 'w1');
    const client = new Client(endpoint);
    await client.sees(1);
    const jobs = await client.post('any');
    for (let cut = 0; cut < 3; cut++) {
      const before = relay.connections;
      relay.cut();
      // From before the broker notices until after the worker is back.
      for (let asked = 0; relay.connections === before || asked < 10; asked++) await client.ask('job-0');
      while (!(await client.ask('job-0')).includes('by w1')) await client.ask('job-0');
    }
    only.tell({ do: 'finish' });
    for (const uuid of jobs.keys()) {
      expect(await client.results(uuid, 'any', 1)).toEqual([`${uuid} by w1`]);
      for (const status of ['400', '404', '408', '500']) expect(client.statuses(uuid)).not.toHaveProperty(status);
      expect(only.lines('call', { command: 'POST', uuid })).toHaveLength(1);
    }
    expect(relay.connections).toBeGreaterThanOrEqual(4);
  });
});
