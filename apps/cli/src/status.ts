/** `proj status`: what an EventMQ broker has to do, and who does it. */
import {
  connectEndpoints,
  defineCommand,
  formatTable,
  milliseconds,
  oneOf,
  onOff,
  transportOption,
} from '@proj/appkit';
import type { Column } from '@proj/appkit';
import { ProjError } from '@proj/client';
import * as z from 'zod';
import { askEmqpAdmin } from './protocols/emqp-admin.js';

const options = z.strictObject({
  connect: connectEndpoints().default(['tcp://127.0.0.1:47293']).describe('admin port of the broker; the first counts'),
  protocol: oneOf(['emqp']).default('emqp').describe('EventMQ'),
  timeoutMs: milliseconds({ min: 1, max: 86_400_000 }).default(2500).describe('how long the answers may take'),
  transport: transportOption(),
  json: onOff().default(false).describe('print what the broker says, as one object of JSON'),
});

const byName = z.record(z.string(), z.number()).default({});

/** What this reads of the three answers; whatever else a broker says is for `--json`. */
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
  summary: 'Show queues, workers and schedulers of an EventMQ broker. The original router answers too.',
  options,
  examples: [
    { what: 'the broker of this machine', line: '--protocol emqp' },
    { what: 'another broker, for a program', line: '--protocol emqp --connect tcp://10.0.0.7:47293 --json' },
  ],
  async run({ settings, stop, print }) {
    const { connect, timeoutMs, transport, json } = settings;
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
  },
});

function readAnswers(endpoint: string, texts: readonly string[]): Answers {
  try {
    const parts = texts.map((text) => partOfAnswers.parse(JSON.parse(text)));
    const not_shown = Object.fromEntries(parts.flatMap((part) => Object.entries(part.not_shown)));
    return answers.parse(Object.assign({}, ...parts, { not_shown }));
  } catch (cause) {
    throw new ProjError('PROTOCOL_REMOTE', `${endpoint}: its answers are not those of an EventMQ broker`, { cause });
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
    ...formatTable(queueColumns, [...queues]),
    '',
    ...formatTable(workerColumns, workers),
    '',
    ...formatTable([{ heading: 'SCHEDULER', cell: (id: string) => id }], Object.keys(said.connected_schedulers)),
    ...(said.memory === undefined ? [] : ['', memoryLine(said.memory)]),
    ...Object.entries(said.not_shown).map(([key, more]) => `not shown: ${more} more of ${key}`),
  ];
}

function memoryLine({ held_bytes: held, max_bytes: max, level }: NonNullable<Answers['memory']>): string {
  return `memory: ${held} of ${max} bytes held, ${level}`;
}
