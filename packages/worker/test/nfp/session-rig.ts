/** An NFP worker session under test: events in, effects kept, and a store that writes when the test says so. */
import { fromLatin1, latin1 } from '@proj/frames';
import { encodeNfpJson } from '@proj/frames/nfp';
import type { NfpAnswer, NfpCall } from '@proj/frames/nfp';
import type { RecordBatch, TimerEvent } from '@proj/transport';
import type { NfpAskedJob, NfpStoredJob, NfpWorkerSessionOptions } from '../../src/nfp/engine/events.js';
import type { NfpFromWorker, NfpWorkerEffect, NfpWorkerEvent, NfpWorkerNote } from '../../src/nfp/engine/events.js';
import { decodeJob } from '../../src/nfp/engine/records.js';
import { NfpWorkerSession } from '../../src/nfp/engine/session.js';

export const OPTIONS: NfpWorkerSessionOptions = {
  endpoints: ['tcp://a:1', 'tcp://b:1'],
  service: 'math',
  name: 'math-1',
  concurrency: 2,
  maxPendingJobs: 3,
  resultTtlMs: 10_000,
  resultsMax: 5,
  crashPolicy: 'rerun',
  maxRuns: 3,
  commandForm: 'ascii',
  dialect: 'current',
  sendOpen: true,
  keepaliveIntervalMs: 1000,
  keepaliveMultiplier: 3,
  managementCommands: false,
  reconnectMinMs: 100,
  reconnectMaxMs: 400,
  minUptimeMs: 10_000,
  drainMs: 5000,
  maxMessageBytes: 65_536,
  taskList: [{ name: 'add', description: 'adds' }],
};

/** When the stories begin, on the wall: 2026-11-20 18:37:49.200 UTC. */
export const WALL_MS = Date.UTC(2026, 10, 20, 18, 37, 49, 200);

export type Effect<Kind extends NfpWorkerEffect['kind']> = Extract<NfpWorkerEffect, { kind: Kind }>;

/** An answer as a client reads it. */
export interface Said {
  readonly command: string;
  readonly to: string;
  readonly uuid: string;
  readonly status: number;
  readonly body: unknown;
}

/** A call as the broker relays it. */
export function call(command: NfpCall, uuid: string, body: unknown = {}, client = 'c1') {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const common = { form: 'ascii', header: 'NFPB01', command, uuid, body: [Buffer.from(text)] } as const;
  return { kind: 'worker-call', client: fromLatin1(client), ...common } as const;
}

/** A session and its surroundings. Each step checks the invariants. */
export class JobSessionRig {
  readonly session: NfpWorkerSession;
  readonly records: Map<string, Uint8Array>;
  /** Effects since the last {@link take}. */
  effects: NfpWorkerEffect[] = [];
  now = 0;
  /** False: commits wait until the test says what becomes of them. */
  commits = true;
  /** False: a restart waits until the test says that it is done. */
  restarts = true;
  /** False for stories of so many jobs that looking at all of them after each step takes too long. */
  checks = true;

  constructor(options: Partial<NfpWorkerSessionOptions> = {}, records: Map<string, Uint8Array> = new Map()) {
    this.records = records;
    this.session = new NfpWorkerSession(
      { ...OPTIONS, ...options },
      { random: () => 0.5, wallMicros: () => (WALL_MS + this.now) * 1000, digest: (text) => text },
    );
  }

  /** Starts with what the records say. */
  start(): this {
    const jobs: NfpStoredJob[] = [];
    for (const [key, value] of this.records) if (key.startsWith('job/')) jobs.push(decodeJob(value)!);
    return this.on({ kind: 'start', jobs });
  }

  /** One event, and what its commits and loads cause. */
  on(event: NfpWorkerEvent | TimerEvent): this {
    const effects = this.session.step(event, this.now);
    if (this.checks) this.session.assertInvariants();
    this.effects.push(...effects);
    for (const effect of effects) {
      if (effect.kind === 'run') this.#runs.set(effect.uuid, effect.run);
      else if (effect.kind === 'commit' && this.commits) this.write(effect);
      else if (effect.kind === 'restart' && this.restarts) this.on({ kind: 'restarted' });
      else if (effect.kind === 'load')
        this.on({ kind: 'loaded', load: effect.load, value: this.records.get(effect.key) });
    }
    return this;
  }

  /** The commit is durable. */
  write({ commit, batch }: { readonly commit: number; readonly batch: RecordBatch }): this {
    for (const key of batch.removes ?? []) this.records.delete(key);
    for (const [key, value] of batch.puts ?? []) this.records.set(key, value);
    return this.on({ kind: 'committed', commit });
  }

  /** Nothing of the commit was kept. */
  fail({ commit }: { readonly commit: number }): this {
    return this.on({ kind: 'commit-failed', commit, message: 'disk full' });
  }

  /** Lets time pass; timers come when they are due. */
  wait(ms: number): this {
    const end = this.now + ms;
    while (this.session.deadline <= end) {
      this.now = Math.max(this.now, this.session.deadline);
      this.on({ kind: 'timer', lateMs: 0 });
    }
    this.now = end;
    return this;
  }

  /** Number of the socket that is open. */
  get socket(): number {
    return this.all('open').at(-1)?.socket ?? this.#lastSocket;
  }

  #lastSocket = 0;
  readonly #runs = new Map<string, number>();

  say(...[command, uuid, body, client]: Parameters<typeof call>): this {
    return this.on({ kind: 'message', socket: this.socket, command: call(command, uuid, body, client) });
  }

  /** From a client that is named in no frame. */
  sayTable(...[command, uuid, body]: Parameters<typeof call>): this {
    const inTable = {
      ...call(command, uuid, body),
      kind: 'worker-table-call',
      service: 'math',
      target: 'all',
    } as const;
    return this.on({ kind: 'message', socket: this.socket, command: inTable });
  }

  post(uuid: string, body: object = { task: 'add', args: [1, 2] }, client = 'c1'): this {
    return this.say('post', uuid, body, client);
  }

  /** Somebody wants to know something of the broker. */
  ask(uuid: string, timeoutMs = 10_000): this {
    const question = {
      uuid,
      service: 'sid.service.broker',
      task: 'get_inventory',
      kwargs: { name: 'math-1' },
      timeoutMs,
    };
    return this.on({ kind: 'question', question });
  }

  /** Somebody wants to know something of workers. */
  askJob(uuid: string, job: NfpAskedJob, timeoutMs = 10_000): this {
    const question = { uuid, service: 'filesharing', task: 'walk', kwargs: { url: 'nf://' }, timeoutMs, job };
    return this.on({ kind: 'question', question });
  }

  /** The broker answers it. */
  answer(uuid: string, status: number, body: unknown, command: NfpAnswer = 'response'): this {
    const service = uuid.startsWith('j') ? 'filesharing' : 'sid.service.broker';
    const said = { status, service, uuid, body: encodeNfpJson(body) };
    const answer = { kind: 'client-answer', form: 'ascii', header: 'NFPB01', command, ...said } as const;
    return this.on({ kind: 'message', socket: this.socket, command: answer });
  }

  /** What became of questions. */
  get replies(): unknown[] {
    return this.all('reply').map(({ uuid, reply }) => [uuid, reply]);
  }

  /** Uuids and commands of the questions that went out. */
  get asked(): string[] {
    return this.all('send').flatMap(({ command }) =>
      command.kind === 'client-call' ? [`${command.command} ${command.uuid}`] : [],
    );
  }

  /** The run of a job ends. */
  done(uuid: string, result = '3'): this {
    return this.on({ kind: 'done', run: this.runOf(uuid), outcome: { result } });
  }

  failed(uuid: string, error = 'broken'): this {
    return this.on({ kind: 'done', run: this.runOf(uuid), outcome: { errors: [error] } });
  }

  /** The last run of a job. */
  runOf(uuid: string): number {
    return this.#runs.get(uuid)!;
  }

  /** All effects of a kind. */
  all<Kind extends NfpWorkerEffect['kind']>(kind: Kind): Effect<Kind>[] {
    return this.effects.filter((effect): effect is Effect<Kind> => effect.kind === kind);
  }

  /** What went out, apart from answers. */
  get sent(): NfpFromWorker['kind'][] {
    return this.all('send').map(({ command }) => command.kind);
  }

  /** Answers, events and streams, in order. */
  get said(): Said[] {
    return this.all('send').flatMap(({ command }) => {
      if (command.kind !== 'worker-answer' && command.kind !== 'worker-table-answer') return [];
      const to = command.kind === 'worker-answer' ? latin1(command.client) : `table:${command.service}`;
      const text = Buffer.concat(command.body).toString();
      const body: unknown = command.command === 'stream' ? text : JSON.parse(text);
      return [{ command: command.command, to, uuid: command.uuid, status: command.status, body }];
    });
  }

  /** Answers about a job, without events: status and the state in the body. */
  answers(uuid: string): string[] {
    return this.said
      .filter((said) => said.uuid === uuid && said.command === 'response')
      .map(({ status, body }) => `${status} ${(body as { status?: string }).status ?? 'result'}`);
  }

  /** Messages of the events of a job. */
  events(uuid: string): string[] {
    return this.said
      .filter((said) => said.uuid === uuid && said.command === 'event')
      .map(({ body }) => (body as { message: string }).message);
  }

  /** The outcome in the record of a job's result. */
  result(uuid: string): Record<string, unknown> | undefined {
    const record = this.records.get(`result/${uuid}`);
    if (record === undefined) return undefined;
    return (JSON.parse(Buffer.from(record).toString()) as Record<string, Record<string, unknown>>)['math-1'];
  }

  notes<Code extends NfpWorkerNote['code']>(code: Code): Extract<NfpWorkerNote, { code: Code }>[] {
    return this.all('note')
      .map(({ note }) => note)
      .filter((note): note is Extract<NfpWorkerNote, { code: Code }> => note.code === code);
  }

  /** Forgets what was seen so far. */
  take(): NfpWorkerEffect[] {
    this.#lastSocket = this.socket;
    const effects = this.effects;
    this.effects = [];
    return effects;
  }
}
