/** An invented program: many services and workers, numbers that move, and faults. Every run invents the same. */
import type {
  ClientRow,
  DeadLetterRow,
  Delta,
  FaultRow,
  HistoryPoint,
  LatencyRow,
  Model,
  NoteRow,
  ScheduleRow,
  ServiceRow,
  WorkerRow,
} from '@proj/observe/model';

/** How much is invented. */
export interface Size {
  readonly services: number;
  readonly workers: number;
  readonly clients: number;
}

const AREAS = ['billing', 'media', 'search', 'mail', 'report', 'geo', 'auth', 'stock'];
const VERBS = ['charge', 'resize', 'index', 'send', 'render', 'locate', 'verify', 'count', 'archive', 'merge'];
const REASONS = ['bad-signature', 'unknown-command', 'empty-body', 'handshake-refused'];
const KEY = 'rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7';
const SECOND = 1000;

/** A number from 0 to 1 that depends on its seed only. */
function noise(seed: number): number {
  const x = Math.sin(seed * 127.1 + 311.7) * 43_758.5453;
  return x - Math.floor(x);
}

const pick = <Item>(items: readonly Item[], seed: number): Item =>
  items[Math.floor(noise(seed) * items.length)] as Item;
const worker = (index: number) =>
  `${pick(['blue', 'red', 'gold', 'grey'], index)}-${index.toString().padStart(4, '0')}`;

function latency(base: number, seed: number): LatencyRow {
  const p50 = base * (0.8 + 0.4 * noise(seed));
  return { count: Math.round(60 * noise(seed + 1)) + 1, p50, p95: p50 * 2.4, p99: p50 * (3.5 + noise(seed + 2)) };
}

/** The invented program. Time is an argument. */
export class FakeProgram {
  readonly #size: Size;
  #model: Model;
  #second = 0;
  #noteId = 0;
  /** Workers that were killed, and the second in which they return. */
  readonly #returns = new Map<string, { at: number; row: WorkerRow }>();
  /** What actions have changed since the last second. */
  #pending: { -readonly [Table in 'workers' | 'deadLetters' | 'process']?: Delta[Table] } = {};

  constructor(now: number, size: Size) {
    this.#size = size;
    const services = table(size.services, (index) => this.#service(index));
    const workers = table(size.workers, (index) => this.#worker(index, now));
    const clients = table(size.clients, (index) => this.#client(index));
    this.#model = {
      process: {
        name: 'proj-broker',
        version: '0.0.0',
        pid: 4711,
        startedAt: now - 93_600 * SECOND,
        isDraining: false,
        hasActions: true,
        memoryMaxBytes: 2 ** 31,
        memoryHeldBytes: 3.1 * 2 ** 26,
      },
      servers: {
        mdp: server('mdp', { router: 'tcp://127.0.0.1:5555' }, { requests: 90_412, replies: 90_377, resends: 35 }),
        ppp: server('ppp', { frontend: 'tcp://127.0.0.1:5556' }, { requests: 5120, replies: 5120 }),
        pzq: server(
          'pzq',
          { producers: 'tcp://127.0.0.1:5571', consumers: 'tcp://127.0.0.1:5572' },
          { puts: 48_210, delivered: 47_912, acknowledged: 47_801 },
          { ready: 120, inFlight: 24, delayed: 17, dead: 12, storeFlushMs: 1.8 },
        ),
        scheduler: server(
          'scheduler',
          { scheduler: 'tcp://127.0.0.1:5580' },
          { scheduled: 4, fired: 812, accepted: 810 },
        ),
      },
      services,
      workers,
      clients,
      deadLetters: Object.fromEntries(
        Array.from({ length: 12 }, (_, index) => deadLetter(index, now)).map((row) => [row.id, row]),
      ),
      faults: faults(now),
      schedules: schedules(now),
      notes: Array.from({ length: 40 }, (_, index) => this.#note(now - (40 - index) * 7 * SECOND)),
      history: Array.from({ length: 900 }, (_, index) => this.#point(Math.floor(now / SECOND) - 900 + index)),
    };
  }

  get model(): Model {
    return this.#model;
  }

  /** The changes of one second; the model has them afterwards. */
  tick(now: number): Delta {
    this.#second += 1;
    const services: Record<string, ServiceRow> = {};
    const workers: Record<string, WorkerRow | null | undefined> = { ...this.#pending.workers };
    for (let index = 0; index < Math.min(120, this.#size.services); index += 1) {
      const row = this.#service(index);
      services[`${row.protocol}/${row.name}`] = row;
    }
    for (let index = 0; index < this.#size.workers; index += 1) {
      // A fifth of the workers is heard of each second, as with heartbeats.
      const key = `mdp/${worker(index)}`;
      if ((index + this.#second) % 5 === 0 && key in this.#model.workers && !(key in workers))
        workers[key] = this.#worker(index, now);
    }
    for (const [key, { at, row }] of this.#returns)
      if (this.#second >= at) {
        this.#returns.delete(key);
        workers[key] = { ...row, state: 'idle', stateSince: now, lastHeard: now, done: 0 };
      }
    const delta: Delta = {
      ...this.#pending,
      services,
      workers,
      ...(this.#second % 4 === 0 ? { notes: [this.#note(now)] } : {}),
      schedules: schedules(now),
      point: this.#point(Math.floor(now / SECOND)),
    };
    this.#pending = {};
    this.#model = merged(this.#model, delta);
    return delta;
  }

  /** A worker dies; another of its name comes three seconds later. */
  killWorker(key: string): boolean {
    const row = this.#model.workers[key];
    if (row === undefined) return false;
    this.#returns.set(key, { at: this.#second + 3, row });
    this.#pending.workers = { ...this.#pending.workers, [key]: null };
    return true;
  }

  /** Dead letters return to the queue, or are gone. How many. */
  takeDead(ids: readonly string[] | 'all'): number {
    const known = (ids === 'all' ? Object.keys(this.#model.deadLetters) : ids).filter(
      (id) => id in this.#model.deadLetters,
    );
    this.#pending.deadLetters = { ...this.#pending.deadLetters, ...Object.fromEntries(known.map((id) => [id, null])) };
    return known.length;
  }

  /** The process drains. */
  drain(): void {
    this.#pending.process = { ...this.#model.process, isDraining: true };
  }

  #service(index: number): ServiceRow {
    const moving = this.#second * 31 + index;
    const requests = 500 + index * 3 + this.#second * (index % 40);
    const failed = Math.floor(requests * 0.004 * noise(index));
    const isQueue = index === 5;
    return {
      protocol: isQueue ? 'pzq' : index % 11 === 3 ? 'nfp' : 'mdp',
      name: isQueue ? 'orders' : serviceName(index),
      requests,
      outcomes: { ok: requests - failed, timeout: Math.ceil(failed / 2), 'worker-lost': Math.floor(failed / 2) },
      resends: Math.floor(failed / 3),
      rate: index < 120 ? 40 * noise(index) + 4 * noise(moving) : noise(index) < 0.7 ? 0 : noise(index),
      waiting: index < 12 ? Math.floor(30 * noise(moving + 5)) : 0,
      oldestWaitingMs: index < 12 ? 900 * noise(moving + 6) : 0,
      running: index < 120 ? Math.floor(4 * noise(moving + 7)) : 0,
      workers: index < this.#size.workers ? 1 + Math.floor(4 * noise(index + 8)) : index % 900 === 1 ? 0 : 1,
      wait: latency(1.2, moving),
      work: latency(index === 0 ? 420 : 14, moving + 9),
    };
  }

  #worker(index: number, now: number): WorkerRow {
    const seed = index + this.#second * 13;
    const isStuck = index === 3;
    const state = isStuck || noise(seed) < 0.4 ? 'busy' : index % 61 === 60 ? 'away' : 'idle';
    return {
      protocol: 'mdp',
      id: worker(index),
      services: [serviceName(index), ...(index % 4 === 0 ? [serviceName(index + 1)] : [])].filter(
        (_, at) => at < this.#size.services,
      ),
      state,
      stateSince: isStuck ? now - 640 * SECOND : now - 9 * SECOND * noise(seed + 2),
      lastHeard: state === 'away' ? now - 8 * SECOND : now,
      running: state === 'busy' ? 1 + Math.floor(3 * noise(seed + 3)) : 0,
      done: 900 + index * 7 + this.#second * 3,
      resends: index % 50 === 0 ? 2 : 0,
      refused: index % 40 === 7 ? { 'unknown-command': 3 } : {},
      ...(index % 3 === 0 ? { key: KEY } : {}),
    };
  }

  #client(index: number): ClientRow {
    return {
      protocol: index % 9 === 4 ? 'pzq' : 'mdp',
      id: `app-${index.toString().padStart(3, '0')}`,
      open: Math.floor(5 * noise(index)),
      refused: index === 7 ? { 'queue-full': 41_200, 'too-long': 3 } : {},
      ...(index % 2 === 0 ? { key: KEY } : {}),
    };
  }

  #note(at: number): NoteRow {
    this.#noteId += 1;
    const reason = pick(REASONS, this.#noteId);
    const peer = noise(this.#noteId + 1) < 0.6 ? 'app-007' : worker(Math.floor(40 * noise(this.#noteId)));
    return {
      id: this.#noteId,
      at,
      protocol: 'mdp',
      code: reason === 'handshake-refused' ? 'refused' : 'malformed',
      reason,
      peer,
      text: `A message of ${peer} was dropped: ${reason.replaceAll('-', ' ')}.`,
    };
  }

  #point(at: number): HistoryPoint {
    const wave = Math.sin(at / 60) + 0.5 * Math.sin(at / 17);
    const burst = at % 420 < 40 ? 1 : 0;
    const p50 = 6 + 2 * wave + noise(at);
    return {
      at,
      ended: Math.round(1450 + 260 * wave + 120 * noise(at) + 500 * burst),
      failed: Math.round(4 + 5 * noise(at + 1) + 45 * burst * noise(at + 2)),
      p50: Math.max(1, p50),
      p99: Math.max(4, p50 * 4 + 26 * noise(at + 3) + 90 * burst),
      waiting: Math.round(Math.max(0, 20 + 14 * wave + 160 * burst * noise(at + 4))),
      running: Math.round(180 + 30 * wave + 16 * noise(at + 5)),
      ready: Math.round(120 + 40 * Math.sin(at / 110) + 8 * noise(at + 6)),
      inFlight: Math.round(24 + 6 * noise(at + 7)),
      dead: 12,
      busy: Math.min(1, 0.22 + 0.05 * wave + 0.3 * burst * noise(at + 8)),
      rssBytes: 1.62e8 + 4e6 * wave,
    };
  }
}

function merged(model: Model, delta: Delta): Model {
  const take = <Row>(
    rows: Readonly<Record<string, Row>>,
    changed: Readonly<Record<string, Row | null | undefined>> = {},
  ) =>
    Object.fromEntries(Object.entries({ ...rows, ...changed }).filter(([, row]) => row !== null)) as Record<
      string,
      Row
    >;
  return {
    ...model,
    process: delta.process ?? model.process,
    services: { ...model.services, ...(delta.services as Model['services']) },
    workers: take(model.workers, delta.workers),
    deadLetters: take(model.deadLetters, delta.deadLetters),
    notes: [...model.notes, ...(delta.notes ?? [])].slice(-500),
    history: [...model.history, delta.point].slice(-900),
  };
}

function table<Row extends { protocol: string; name: string } | { protocol: string; id: string }>(
  size: number,
  make: (index: number) => Row,
): Record<string, Row> {
  const rows = Array.from({ length: size }, (_, index) => make(index));
  return Object.fromEntries(rows.map((row) => [`${row.protocol}/${'name' in row ? row.name : row.id}`, row]));
}

function serviceName(index: number): string {
  const area = AREAS[index % AREAS.length] ?? '';
  const verb = VERBS[Math.floor(index / AREAS.length) % VERBS.length] ?? '';
  const round = Math.floor(index / (AREAS.length * VERBS.length));
  return `${area}.${verb}${round === 0 ? '' : `-${round}`}`;
}

function server(
  protocol: string,
  endpoints: Record<string, string>,
  counters: Record<string, number>,
  gauges: Record<string, number> = {},
): Model['servers'][string] {
  return {
    protocol,
    endpoints,
    counters,
    dropped: protocol === 'mdp' ? { malformed: 214, unreachable: 6 } : {},
    gauges,
    refused: protocol === 'mdp' ? { key: 2, handshake: 0 } : {},
    ...(protocol === 'pzq' ? { commit: latency(1.8, 3) } : {}),
    actions:
      protocol === 'pzq'
        ? ['drain-worker', 'pause', 'resume', 'purge', 'requeue-dead', 'discard-dead']
        : ['drain-worker', 'disconnect-worker', 'drain-service'],
  };
}

function deadLetter(index: number, now: number): DeadLetterRow {
  return {
    id: `0192f${(index * 7919 + 65_536).toString(16)}`,
    reason: pick(['attempts', 'expired', 'rejected by the consumer'], index),
    attempts: 1 + Math.floor(4 * noise(index)),
    bytes: index === 1 ? 40 : 96 + index,
    at: now - (index + 1) * 211 * SECOND,
  };
}

/** The body of a dead letter: JSON, or bytes that are no text. */
export function deadBody(row: DeadLetterRow): Uint8Array {
  if (row.bytes === 40) return Uint8Array.from({ length: 40 }, (_, at) => (at * 37) % 256);
  const body = JSON.stringify({ order: row.id, customer: 'C-1042', items: [{ sku: 'A-17', quantity: 2 }] }, null, 2);
  return new TextEncoder().encode(body);
}

function schedules(now: number): Record<string, ScheduleRow> {
  const nightly = Math.ceil(now / 86_400_000) * 86_400_000;
  const soon = Math.ceil(now / 10_000) * 10_000;
  const rows: ScheduleRow[] = [
    {
      id: 'nightly-report',
      when: '0 0 * * *',
      target: 'report.render',
      nextAt: nightly,
      lastAt: nightly - 86_400_000,
      lastOutcome: 'ok',
      runs: 31,
    },
    {
      id: 'index-changes',
      when: 'every 10 s',
      target: 'search.index',
      nextAt: soon,
      lastAt: soon - 10_000,
      lastOutcome: 'ok',
      runs: Math.floor(now / 10_000) % 1000,
    },
    {
      id: 'close-accounts',
      when: '0 6 1 * *',
      target: 'billing.charge',
      nextAt: nightly + 6 * 3_600_000,
      lastAt: nightly - 40 * 86_400_000,
      lastOutcome: 'timeout',
      runs: 4,
    },
  ];
  return Object.fromEntries(rows.map((row) => [row.id, row]));
}

function faults(now: number): Record<string, FaultRow> {
  const rows: FaultRow[] = [
    {
      code: 'stuck-worker',
      href: `/workers/mdp/${worker(3)}`,
      text: `Worker ${worker(3)} has worked on one request for 10 min; the others of its service need 60 ms. Look at its log, or disconnect it.`,
      since: now - 640 * SECOND,
    },
    {
      code: 'flooding-client',
      href: '/clients/mdp/app-007',
      text: 'Client app-007 had 41,203 requests refused in the last minute. Ask its owner, or revoke its key.',
      since: now - 75 * SECOND,
    },
    {
      code: 'service-without-workers',
      href: '/services/mdp/media.charge',
      text: 'Service media.charge has 12 requests waiting and no worker. Start one.',
      since: now - 21 * SECOND,
    },
  ];
  return Object.fromEntries(rows.map((row) => [`${row.code}${row.href}`, row]));
}
