/** `proj top --connect`: the same screen and keys as over HTTP, with what a Majordomo broker reports over MMI. */
import { stripVTControlCharacters } from 'node:util';
import { HAS_LIBZMQ, Programs } from '@proj/appkit/testing';
import { ProjError } from '@proj/client';
import type { MmiServiceEntry, MmiWorkerEntry } from '@proj/client/mdp';
import { afterEach, describe, expect, it } from 'vitest';
import { Router } from 'zeromq';
import { MmiBroker } from '../src/mmi/broker.js';
import type { MmiTime } from '../src/mmi/broker.js';
import { linesOf } from '../src/overview.js';
import type { Overview } from '../src/overview.js';
import { keysOf } from '../src/top/keys.js';
import { extentOf, Screen } from '../src/top/screen.js';
import { press, START } from '../src/top/state.js';
import { top } from '../src/top.js';
import { run } from './in-process.js';

const WHERE = 'tcp://127.0.0.1:5555';
const SIZE = { columns: 70, rows: 12 };
const NEVER = new AbortController().signal;

const service = (name: string, more: Partial<MmiServiceEntry> = {}): MmiServiceEntry => ({
  ...{ name, version: '0.2', workers: 1, busy: 0, waiting: 0, requests: 0 },
  ...more,
});
const worker = (id: string, more: Partial<MmiWorkerEntry> = {}): MmiWorkerEntry => ({
  ...{ id, service: 'echo', version: '0.2', busy: false, lastSeenMs: 1000 },
  ...more,
});

/** A broker with these answers and a manual clock, which a pause advances. */
class Told {
  services: readonly MmiServiceEntry[] = [];
  workers: readonly MmiWorkerEntry[] = [];
  failure: Error | undefined;
  /** What `mmi.service` answers. */
  presence: 'absent' | 'unknown' = 'unknown';
  now = 0;
  readonly broker: MmiBroker;

  constructor() {
    const told = <Answer>(answer: Answer) =>
      this.failure === undefined ? Promise.resolve(answer) : Promise.reject(this.failure);
    const client = {
      service: () => Promise.resolve(this.presence),
      services: () => told(this.services),
      workers: () => told(this.workers),
    };
    const time: MmiTime = {
      now: () => this.now,
      pause: (ms) => Promise.resolve((this.now += ms)),
    };
    this.broker = new MmiBroker(client, WHERE, time);
  }

  /** The broker, `ms` after it was last asked. */
  async after(ms: number, ...services: readonly MmiServiceEntry[]): Promise<Overview> {
    this.now += ms;
    this.services = services;
    return this.broker.overview(NEVER);
  }
}

/** Rows of the first table: some of its cells, by their headings. */
function cellsOf({ tables: [table] }: Overview, ...headings: readonly string[]): string[][] {
  const at = headings.map((wanted) => table!.columns.findIndex(({ heading }) => heading === wanted));
  return table!
    .rows(table!.choice)
    .cells(0, 99)
    .map((row) => at.map((index) => row[index]!));
}

/** The screen after these keys. */
function draw(overview: Overview, typed = ''): string[] {
  const view = keysOf(typed).reduce((seen, key) => press(seen, key, extentOf(overview, SIZE, seen)) ?? seen, START);
  return new Screen(true).draw(overview, SIZE, view).map((line) => stripVTControlCharacters(line).trimEnd());
}

describe('the screen', () => {
  const told = new Told();
  told.workers = [
    worker('7731', { busy: true, lastSeenMs: 40 }),
    worker('', { service: 'own', lastSeenMs: 0 }),
    worker('7732', { version: '0.1', lastSeenMs: 2500 }),
  ];
  const echo = { workers: 2, busy: 1, waiting: 3 };

  it('has services with their rates, and says what MMI does not report', async () => {
    await told.after(0, service('echo', { ...echo, requests: 10 }), service('own'));
    const overview = await told.after(2000, service('echo', { ...echo, requests: 35 }), service('own'));
    expect(draw(overview)).toEqual([
      'Majordomo broker at tcp://127.0.0.1:5555, over MMI',
      '12.5 requests/s, 3 waiting, 1 running, 3 workers',
      'MMI does not report failures, durations, clients or faults: for these,',
      'start proj-broker with --http and use proj top --http.',
      '[Services 2]  Workers 3',
      'SERVICE  PROTOCOL  PER S\u25bc  REQUESTS  WAITING  RUNNING  WORKERS',
      'echo     mdp         12.5        35        3        1        2',
      'own      mdp            0         0        0        0        1',
      '',
      '',
      '',
      '1 to 2 of 2   q quit  s sort  r reverse  / filter  arrows  ? help',
    ]);
  });

  it('has workers, the longest silent first', async () => {
    expect(draw(await told.after(0), '\x1b[C').slice(4, 9)).toEqual([
      ' Services 0  [Workers 3]',
      'WORKER           PROTOCOL  SERVICE  STATE   HEARD\u25bc',
      '7732             mdp01     echo     idle   2 s ago',
      '7731             mdp       echo     busy       now',
      '(in the broker)  mdp       own      idle       now',
    ]);
  });

  it('takes the same keys: sorts, filters, and names its own tables in the help', async () => {
    const overview = await told.after(0, service('a', { waiting: 1 }), service('b', { waiting: 9 }));
    expect(draw(overview, 'ss')[6]).toMatch(/^b /);
    expect(draw(overview, 'ssr')[6]).toMatch(/^a /);
    expect(draw(overview, '/b\r').at(-1)).toMatch(/^1 to 1 of 1 with "b"/);
    expect(draw(overview, '?')).toContain('left, right: services, workers');
  });
});

describe('rates', () => {
  it('are of requests that have ended, over ten seconds', async () => {
    const told = new Told();
    const rateAfter = async (ms: number, more: Partial<MmiServiceEntry>) =>
      cellsOf(await told.after(ms, service('echo', more)), 'PER S')[0]![0];
    expect(await rateAfter(0, { requests: 100, waiting: 7, busy: 3 })).toBe('-');
    expect(await rateAfter(1000, { requests: 150, waiting: 50, busy: 10 })).toBe('0');
    expect(await rateAfter(1000, { requests: 150, waiting: 20 })).toBe('20.0');
    expect(await rateAfter(8000, { requests: 150 })).toBe('6.0');
    expect(await rateAfter(10_000, { requests: 150 })).toBe('0');
  });

  it('start again after a restart of the broker', async () => {
    const told = new Told();
    await told.after(0, service('echo', { requests: 100 }));
    await told.after(1000);
    expect(cellsOf(await told.after(1000, service('echo', { requests: 4 })), 'PER S')).toEqual([['-']]);
    expect(cellsOf(await told.after(1000, service('echo', { requests: 8 })), 'PER S')).toEqual([['4.0']]);
  });

  it('of a new service start with its second answer', async () => {
    const told = new Told();
    await told.after(0, service('echo'));
    await told.after(1000, service('echo'), service('new', { requests: 5 }));
    const overview = await told.after(1000, service('echo'), service('new', { requests: 9 }));
    expect(cellsOf(overview, 'SERVICE', 'PER S')).toEqual([
      ['new', '4.0'],
      ['echo', '0'],
    ]);
  });

  it('are separate for the two versions of a service', async () => {
    const told = new Told();
    const both = (old: number, current: number) => [
      service('echo', { version: '0.1', requests: old }),
      service('echo', { requests: current }),
    ];
    await told.after(0, ...both(0, 0));
    expect(cellsOf(await told.after(1000, ...both(5, 9)), 'PROTOCOL', 'PER S')).toEqual([
      ['mdp', '9.0'],
      ['mdp01', '5.0'],
    ]);
  });

  it('and requests are unknown if the broker does not count them', async () => {
    const told = new Told();
    const { requests: _, ...plain } = service('echo', { waiting: 2 });
    await told.after(0, plain);
    const overview = await told.after(1000, plain);
    expect(cellsOf(overview, 'PER S', 'REQUESTS', 'WAITING')).toEqual([['-', '-', '2']]);
    expect(overview.figures).toBe('2 waiting, 0 running, 0 workers');
  });
});

describe('a broker', () => {
  it('is asked every second until it stops answering', async () => {
    const told = new Told();
    const overviews = told.broker.overviews(NEVER);
    await overviews.next();
    expect(told.now).toBe(0);
    await overviews.next();
    expect(told.now).toBe(1000);
    told.failure = new ProjError('TIMEOUT', 'silence');
    await expect(overviews.next()).rejects.toBe(told.failure);
  });

  it.each([
    ['refuses the listing', 'SERVICE_UNKNOWN', 'unknown'],
    ['does not answer a name that it does not know', 'TIMEOUT', 'absent'],
  ] as const)('that %s is reported, with what to do', async (_, code, presence) => {
    const told = new Told();
    told.failure = new ProjError(code, 'no');
    told.presence = presence;
    await expect(told.broker.overview(NEVER)).rejects.toMatchObject({
      code: 'SERVICE_UNKNOWN',
      message: `${WHERE}: this broker does not list its services: ask for one service with 'proj call mmi.service NAME', or run proj-broker without --no-mdp-mmi-additions`,
    });
  });

  it('cannot control the terminal through a name', async () => {
    const told = new Told();
    told.workers = [worker('77', { service: 'evil\x1b[2J' })];
    const overview = await told.after(0, service('evil\x1b[2J\nname'));
    for (const line of linesOf(overview)) expect(line).not.toMatch(/\p{Cc}/u);
    expect(linesOf(overview).join('\n')).toContain('\nevil\u00b7[2J\u00b7name  mdp ');
  });
});

describe('with real sockets', () => {
  const programs = new Programs();
  let router: Router | undefined;
  afterEach(async () => {
    await programs.end();
    router?.close();
    router = undefined;
  });

  it('prints one snapshot of proj-broker if there is no terminal', async () => {
    const { endpoint, registered } = await programs.startBroker('--only', 'mdp', '--heartbeat-ms', '10000');
    programs.start('worker', ['--connect', endpoint, '--service', 'echo', '--heartbeat-ms', '10000']);
    await registered(1);
    await programs.run('cli', ['call', 'echo', 'hello', '--connect', endpoint, '--timeout-ms', '60000']);
    const { code, lines } = await run(top, [], { connect: [endpoint] });
    expect(code).toBe(0);
    expect(lines.slice(0, 5)).toEqual([
      `Majordomo broker at ${endpoint}, over MMI`,
      '0 waiting, 0 running, 1 workers',
      expect.stringMatching(/^MMI does not report failures/),
      '',
      'SERVICE  PROTOCOL  PER S  REQUESTS  WAITING  RUNNING  WORKERS',
    ]);
    expect(lines[5]?.split(/ +/)).toEqual(['echo', 'mdp', '-', '1', '0', '0', '1']);
    expect(lines[8]).toMatch(/^[0-9a-f]+ +mdp +echo +idle +/);
  });

  it.runIf(HAS_LIBZMQ)('fails with a foreign broker, and says what to do', async () => {
    const foreign = (router = new Router({ linger: 0 }));
    await foreign.bind('tcp://127.0.0.1:*');
    const endpoint = foreign.lastEndpoint ?? '';
    const served = (async () => {
      for await (const [id = '', , , name = ''] of foreign) await foreign.send([id, 'MDPC02', '\x03', name, '501']);
    })();
    await expect(run(top, [], { connect: [endpoint] })).rejects.toMatchObject({
      code: 'SERVICE_UNKNOWN',
      message: expect.stringMatching(`^${endpoint}: this broker does not list its services: ask for one`) as string,
    });
    foreign.close();
    await served;
  });

  it('says that no broker answers', async () => {
    const nobody = { connect: ['tcp://127.0.0.1:9'], timeoutMs: 20 };
    await expect(run(top, [], nobody)).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: expect.stringContaining('no broker answers at tcp://127.0.0.1:9') as string,
    });
  });
});
