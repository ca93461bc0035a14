/**
 * `proj status`: the work of a program and who does it. Over HTTP, or as the protocol reports it: MMI, an admin port, a monitor socket.
 */
import { connectEndpoints, defineCommand, onOff, printable, transportOption, withinADay } from '@proj/appkit';
import type { Column } from '@proj/appkit';
import { ProjError } from '@proj/client';
import * as z from 'zod';
import { printableTable } from './http/cells.js';
import { anyProtocol, maybeProgramOptions, wrongProtocol } from './http/options.js';
import { overviewOf } from './http/overview.js';
import { openProgram } from './http/program.js';
import { listServices, listWorkers } from './listings.js';
import { printMonitor } from './monitor.js';
import { linesOf } from './overview.js';
import { askEmqpAdmin } from './protocols/emqp-admin.js';

const CONNECT = {
  mdp: 'tcp://127.0.0.1:5555',
  mdp01: 'tcp://127.0.0.1:5555',
  nfp: 'tcp://127.0.0.1:5555',
  emqp: 'tcp://127.0.0.1:47293',
  pzq: 'tcp://127.0.0.1:11133',
};

function isAskable(protocol: string): protocol is keyof typeof CONNECT {
  return Object.hasOwn(CONNECT, protocol);
}

const options = z.strictObject({
  ...maybeProgramOptions,
  connect: connectEndpoints()
    .optional()
    .describe(
      "what to ask without --http: a broker, EventMQ's admin port, or the monitor socket of a queue (default: the usual port on this machine)",
    ),
  protocol: anyProtocol().default('emqp').describe('without --http: Majordomo 0.2 or 0.1, NORFAB, EventMQ, or PZQ'),
  timeoutMs: withinADay().default(2500).describe('how long the answers may take'),
  transport: transportOption(),
  json: onOff().default(false).describe('print one JSON object'),
});

const byName = z.record(z.string(), z.number()).default({});

/** The parts of the three answers that are read here; the rest of a broker's answers is only for `--json`. */
const answers = z.looseObject({
  waiting_messages_by_queue: byName,
  inflight_messages_by_queue: byName,
  processed_messages_by_queue: byName,
  latency_messages_by_queue: byName,
  max_latency_messages_by_queue: byName,
  processed_messages_by_worker: byName,
  connected_workers: z.record(
    z.string(),
    z.looseObject({ queues: z.array(z.tuple([z.number(), z.string()])), available_slots: z.number() }),
  ),
  connected_queues: z.record(z.string(), z.array(z.unknown())),
  connected_schedulers: z.record(z.string(), z.unknown()),
  not_shown: byName,
  memory: z.looseObject({ max_bytes: z.number(), held_bytes: z.number(), level: z.string() }).optional(),
});

const partOfAnswers = z.looseObject({ not_shown: byName });

type Answers = z.output<typeof answers>;

/** Shows queues, workers and schedulers. */
export const status = defineCommand({
  name: 'status',
  summary:
    'Show services, queues and workers: of any program over HTTP, or of brokers and queues, including those of others, as their protocols report them.',
  options,
  examples: [
    { what: 'the broker of npm start', line: '--http http://127.0.0.1:8055/' },
    { what: 'the same as JSON', line: '--http http://127.0.0.1:8055/ --json' },
    { what: 'the EventMQ broker on this machine', line: '--protocol emqp' },
    { what: 'a queue, at its monitor socket', line: '--protocol pzq --connect tcp://10.0.0.7:11133' },
  ],
  async run({ settings, stop, print }) {
    const { http, protocol, json } = settings;
    if (http !== undefined) {
      const { notes: _, history, ...model } = await (await openProgram({ ...settings, http })).model(stop);
      if (json) print(JSON.stringify({ ...model, point: history.at(-1) }));
      else for (const line of linesOf(overviewOf({ ...model, notes: [], history }))) print(line);
      return 0;
    }
    if (!isAskable(protocol)) throw wrongProtocol(protocol, Object.keys(CONNECT));
    const connect = settings.connect ?? [CONNECT[protocol]];
    switch (protocol) {
      case 'emqp':
        return printEmqp({ ...settings, connect }, stop, print);
      case 'pzq':
        return printMonitor({ ...settings, connect, tries: TRIES }, stop, print);
      case 'mdp':
      case 'mdp01':
      case 'nfp': {
        const own = { ...settings, connect, protocol, tries: TRIES };
        const [services, workers] = [await listServices(own, stop), await listWorkers(own, undefined, stop)];
        if (json) print(JSON.stringify({ services: services.rows, workers: workers.rows }));
        else for (const line of [...services.lines, '', ...workers.lines]) print(line);
        return 0;
      }
    }
  },
});

/** Attempts to ask, as for `proj services`. */
const TRIES = 3;

type Settings = z.output<typeof options>;

async function printEmqp(
  { connect, timeoutMs, transport, json }: Settings & { readonly connect: readonly string[] },
  stop: AbortSignal,
  print: (line: string) => void,
): Promise<number> {
  const [endpoint = ''] = connect;
  const texts = await askEmqpAdmin({ endpoint, timeoutMs, transport, stop }, [
    'status',
    'show-workers',
    'show-schedulers',
  ]);
  const said = readAnswers(endpoint, texts);
  if (json) print(JSON.stringify(said));
  else for (const line of tablesOf(said)) print(line);
  return 0;
}

function readAnswers(endpoint: string, texts: readonly string[]): Answers {
  try {
    const parts = texts.map((text) => partOfAnswers.parse(JSON.parse(text)));
    const not_shown = Object.fromEntries(parts.flatMap((part) => Object.entries(part.not_shown)));
    return answers.parse(Object.assign({}, ...parts, { not_shown }));
  } catch (cause) {
    throw new ProjError('PROTOCOL_REMOTE', `${endpoint}: it does not answer like an EventMQ broker`, { cause });
  }
}

function tablesOf(said: Answers): string[] {
  const counts: readonly (readonly [string, Readonly<Record<string, number>>])[] = [
    ['WAITING', said.waiting_messages_by_queue],
    ['IN FLIGHT', said.inflight_messages_by_queue],
    ['DONE', said.processed_messages_by_queue],
    ['MS', said.latency_messages_by_queue],
    ['MAX MS', said.max_latency_messages_by_queue],
  ];
  const queues = new Set([said.connected_queues, ...counts.map(([, count]) => count)].flatMap(Object.keys));
  const queueColumns: Column<string>[] = [
    { heading: 'QUEUE', cell: (name) => name },
    { heading: 'WORKERS', cell: (name) => said.connected_queues[name]?.length ?? 0 },
    ...counts.map(([heading, count]) => ({ heading, cell: (name: string) => count[name] ?? 0 })),
  ];
  const workers = Object.entries(said.connected_workers);
  const workerColumns: Column<(typeof workers)[number]>[] = [
    { heading: 'WORKER', cell: ([id]) => id },
    { heading: 'SLOTS', cell: ([, worker]) => worker.available_slots },
    { heading: 'DONE', cell: ([id]) => said.processed_messages_by_worker[id] ?? 0 },
    { heading: 'QUEUES', cell: ([, worker]) => worker.queues.map(([weight, name]) => `${weight}:${name}`).join(' ') },
  ];
  return [
    ...printableTable(queueColumns, [...queues]),
    '',
    ...printableTable(workerColumns, workers),
    '',
    ...printableTable([{ heading: 'SCHEDULER', cell: (id: string) => id }], Object.keys(said.connected_schedulers)),
    ...(said.memory === undefined ? [] : ['', memoryLine(said.memory)]),
    ...Object.entries(said.not_shown).map(([key, more]) => printable(`not shown: ${more} more of ${key}`)),
  ];
}

function memoryLine({ held_bytes: held, max_bytes: max, level }: NonNullable<Answers['memory']>): string {
  return printable(`memory: ${held} of ${max} bytes held, ${level}`);
}
