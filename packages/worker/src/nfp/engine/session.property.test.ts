import { decodeNfpAtWorker, encodeNfp } from '@proj/frames/nfp';
import type { NfpCall, NfpToWorker } from '@proj/frames/nfp';
import { arbitraries, passTime } from '@proj/testkit';
import type { RecordBatch } from '@proj/transport';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { call, OPTIONS, WALL_MS } from '../../../test/nfp/session-rig.js';
import type { NfpAskedJob, NfpWorkerEffect, NfpWorkerEvent } from './events.js';
import { decodeJob } from './records.js';
import { NfpWorkerSession } from './session.js';

/** A step of a story. Runs and queries are named by how long ago they started, so that most of them exist. */
type Act =
  | { readonly act: 'wait'; readonly ms: number; readonly late: boolean }
  | {
      readonly act: 'call';
      readonly command: NfpCall;
      readonly uuid: string;
      readonly body: string;
      readonly client: string;
    }
  | { readonly act: 'command'; readonly command: NfpToWorker }
  | { readonly act: 'done' | 'failed' | 'ask' | 'event'; readonly ago: number }
  /** What happens to the pending commit. */
  | { readonly act: 'written' | 'unwritten' }
  | { readonly act: 'question' | 'restarted' | 'lost' | 'load-failed' | 'crash' | 'drain' | 'close' };

const uuid = fc.constantFrom('u1', 'u2', 'u3', 'u4', 'u5', 'u6');
/** What is sent to workers instead of the broker. */
const JOBS: Readonly<Record<string, NfpAskedJob>> = {
  q2: { target: 'all', awaits: 'result' },
  q3: { target: '["f1"]', awaits: 'chunk', put: { offset: 1 } },
};
const ago = fc.integer({ min: 0, max: 2 });
const body = fc.constantFrom(
  '{"task":"a"}',
  '{"task":"a"}',
  '{"task":"b"}',
  '{}',
  '{"input_id":"q"}',
  '{"task":"restart"}',
  '[',
);
const command: fc.Arbitrary<NfpToWorker> = fc.oneof(
  fc.constant({ kind: 'broker-keepalive', form: 'ascii', header: 'NFPB01', service: 'math' } as const),
  fc.constant({ kind: 'broker-disconnect', form: 'ascii', header: 'NFPB01', service: '', body: [] } as const),
  arbitraries.message().map((frames) => decodeNfpAtWorker(frames)),
  fc.record({
    kind: fc.constant('client-answer' as const),
    form: fc.constant('ascii' as const),
    header: fc.constant('NFPB01' as const),
    command: fc.constantFrom('response' as const, 'mmi' as const, 'event' as const),
    service: fc.constant('sid.service.broker'),
    uuid: fc.constantFrom('q1', 'q2', 'q3'),
    status: fc.constantFrom(200, 202, 400, 500),
    body: fc.constant([Buffer.from('{}')]),
  }),
);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({ act: fc.constant('wait'), ms: fc.integer({ min: 0, max: 900 }), late: fc.boolean() }),
  },
  {
    weight: 60,
    arbitrary: fc.record({
      act: fc.constant('call'),
      command: fc.constantFrom<NfpCall>('post', 'post', 'post', 'get', 'delete', 'put', 'mmi'),
      uuid,
      body,
      client: fc.constantFrom('c1', 'c2'),
    }),
  },
  { weight: 8, arbitrary: fc.record({ act: fc.constant('command'), command }) },
  { weight: 40, arbitrary: fc.record({ act: fc.constantFrom('done', 'done', 'failed', 'ask', 'event'), ago }) },
  { weight: 60, arbitrary: fc.record({ act: fc.constant('written') }) },
  { weight: 6, arbitrary: fc.record({ act: fc.constantFrom('unwritten', 'lost', 'load-failed') }) },
  { weight: 10, arbitrary: fc.record({ act: fc.constantFrom('question', 'restarted') }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('crash') }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('drain', 'close') }) },
);

/** A session with a disk that fails and a machine that crashes, and the records of its clients. */
class Story {
  readonly #records = new Map<string, Uint8Array>();
  #session = this.#begin();
  now = 0;
  #socket = 0;
  #commit: { readonly commit: number; readonly batch: RecordBatch } | undefined;
  #loads: number[] = [];
  #runs: number[] = [];
  #ended = false;
  /** Jobs that were accepted and not deleted after their end. */
  readonly accepted = new Set<string>();

  constructor() {
    this.#start();
  }

  #begin(): NfpWorkerSession {
    const options = { ...OPTIONS, resultsMax: 100, resultTtlMs: 0, maxRuns: 1000, managementCommands: true };
    const wallMicros = () => (WALL_MS + this.now) * 1000;
    return new NfpWorkerSession(options, { random: () => 0.5, wallMicros, digest: (text) => text });
  }

  #start(): void {
    const jobs = [...this.#records].flatMap(([key, value]) => (key.startsWith('job/') ? [decodeJob(value)!] : []));
    this.step({ kind: 'start', jobs });
  }

  play(act: Act): void {
    switch (act.act) {
      case 'wait':
        this.#wait(act.ms, act.late);
        break;
      case 'call':
        this.#message(call(act.command, act.uuid, act.body, act.client));
        break;
      case 'command':
        this.#message(act.command);
        break;
      case 'done':
        this.#onRun(act.ago, (run) => ({ kind: 'done', run, outcome: { result: '1' } }), true);
        break;
      case 'failed':
        this.#onRun(act.ago, (run) => ({ kind: 'done', run, outcome: { errors: ['x'] } }), true);
        break;
      case 'ask': {
        const question = { id: 'q', question: '?', default: null, timeoutMs: 500, metadata: {} };
        this.#onRun(act.ago, (run) => ({ kind: 'ask', run, question }));
        break;
      }
      case 'restarted':
        this.#endRestart();
        break;
      case 'question':
        this.#ask();
        break;
      case 'event':
        this.#onRun(act.ago, (run) => ({ kind: 'event', run, body: [Buffer.from('{}')] }));
        break;
      case 'written':
        this.#settle(true);
        break;
      case 'unwritten':
        this.#settle(false);
        break;
      case 'lost':
        this.step({ kind: 'lost', socket: this.#socket, reason: 'peer-gone' });
        break;
      case 'load-failed':
        for (const load of this.#loads.splice(0)) this.step({ kind: 'load-failed', load });
        break;
      case 'crash':
        this.#crash();
        break;
      case 'drain':
      case 'close':
        this.step({ kind: act.act });
        break;
    }
    this.#checkAccepted();
  }

  /** Lets everything end: the disk works, tasks finish, and every accepted job has a result. */
  finish(): void {
    if (this.#ended || this.#isLeaving) this.#crash();
    for (let round = 0; round < 10; round++) {
      while (this.#commit !== undefined || this.#loads.length > 0) this.#settle(true);
      this.#endRestart();
      for (const run of this.#runs.splice(0)) this.step({ kind: 'done', run, outcome: { result: '1' } });
      this.#wait(1000, false);
    }
    for (const each of this.accepted) {
      expect(decodeJob(this.#records.get(`job/${each}`)!)?.state).toMatch(/^(COMPLETED|FAILED|CANCELLED)$/);
      expect(this.#records.has(`result/${each}`)).toBe(true);
      expect(this.#records.has(`call/${each}`)).toBe(false);
    }
    const { jobs, running } = this.#session.counters();
    expect([jobs.PENDING, jobs.STARTED, running, this.#questions.size]).toEqual([0, 0, 0, 0]);
  }

  #isLeaving = false;
  readonly #questions = new Set<string>();
  #restarts = 0;

  #crash(): void {
    this.#commit = undefined;
    this.#loads = [];
    this.#runs = [];
    this.#questions.clear();
    this.#restarts = 0;
    this.#ended = this.#isLeaving = false;
    this.#session = this.#begin();
    this.#start();
  }

  #message(message: NfpToWorker): void {
    this.step({ kind: 'message', socket: this.#socket, command: message });
  }

  #endRestart(): void {
    if (this.#restarts === 0) return;
    this.#restarts = 0;
    this.step({ kind: 'restarted' });
  }

  #ask(): void {
    const uuid = ['q1', 'q2', 'q3'].find((each) => !this.#questions.has(each));
    if (this.#ended || uuid === undefined) return;
    this.#questions.add(uuid);
    const asked = { uuid, service: 'sid.service.broker', task: 'get_inventory', kwargs: {}, timeoutMs: 700 };
    const job = JOBS[uuid];
    this.step({ kind: 'question', question: job === undefined ? asked : { ...asked, service: 'filesharing', job } });
  }

  #onRun(back: number, event: (run: number) => NfpWorkerEvent, last = false): void {
    const at = this.#runs.length - 1 - back;
    const run = this.#runs[at];
    if (run === undefined) return;
    if (last) this.#runs.splice(at, 1);
    this.step(event(run));
  }

  #settle(well: boolean): void {
    for (const load of this.#loads.splice(0)) this.step({ kind: 'loaded', load, value: Buffer.from('{}') });
    const commit = this.#commit;
    if (commit === undefined) return;
    this.#commit = undefined;
    if (!well) {
      this.step({ kind: 'commit-failed', commit: commit.commit, message: 'full' });
      return;
    }
    for (const key of commit.batch.removes ?? []) {
      this.#records.delete(key);
      if (key.startsWith('job/')) this.accepted.delete(key.slice(4));
    }
    for (const [key, value] of commit.batch.puts ?? []) this.#records.set(key, value);
    this.step({ kind: 'committed', commit: commit.commit });
  }

  #wait(ms: number, late: boolean): void {
    if (late) this.now += ms;
    passTime(this, this.#session, late ? 0 : ms);
  }

  step(event: Parameters<NfpWorkerSession['step']>[0]): void {
    if (event.kind === 'drain' || event.kind === 'close') this.#isLeaving = true;
    const effects = this.#session.step(event, this.now);
    this.#session.assertInvariants();
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: NfpWorkerEffect): void {
    expect(this.#ended).toBe(false);
    switch (effect.kind) {
      case 'open':
        expect(effect.socket).toBe(this.#nextSocket());
        break;
      case 'send':
        expect(effect.socket).toBe(this.#socket);
        encodeNfp(effect.command);
        break;
      case 'commit':
        expect(this.#commit).toBeUndefined();
        this.#commit = effect;
        break;
      case 'load':
        this.#loads.push(effect.load);
        break;
      case 'run':
        this.#runs.push(effect.run);
        expect(this.#runs.length).toBeLessThanOrEqual(OPTIONS.concurrency);
        break;
      case 'note':
        if (effect.note.code === 'job-accepted') this.accepted.add(effect.note.uuid);
        if (effect.note.code === 'management' && effect.note.task === 'shutdown') this.#isLeaving = true;
        break;
      case 'ended':
        this.#ended = true;
        expect([this.#runs, this.#commit, this.#questions.size]).toEqual([[], undefined, 0]);
        break;
      case 'restart':
        this.#restarts++;
        break;
      case 'reply':
        expect(this.#questions.delete(effect.uuid)).toBe(true);
        break;
      case 'close':
      case 'abort':
      case 'put':
      case 'input':
        break;
    }
  }

  /** Sockets are numbered anew in each session. */
  #nextSocket(): number {
    this.#socket = this.#session === this.#lastSession ? this.#socket + 1 : 1;
    this.#lastSession = this.#session;
    return this.#socket;
  }

  #lastSession: NfpWorkerSession | undefined;

  #checkAccepted(): void {
    for (const each of this.accepted) {
      expect(this.#records.has(`job/${each}`)).toBe(true);
      const final = /"state":"(COMPLETED|FAILED|CANCELLED)"/.test(
        Buffer.from(this.#records.get(`job/${each}`)!).toString(),
      );
      expect(this.#records.has(`${final ? 'result' : 'call'}/${each}`)).toBe(true);
    }
  }
}

it('rules 4 and 12: whatever clients, disk and machine do, no accepted job vanishes, and each one ends', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 120, size: 'max' }), (acts) => {
      const story = new Story();
      for (const one of acts) story.play(one);
      story.finish();
    }),
    { numRuns: 150 },
  );
});
