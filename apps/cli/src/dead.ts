/** `proj dead`: messages that a durable queue gave up. */
import { defineCommand, formatTable, onOff, printable } from '@proj/appkit';
import type { Column } from '@proj/appkit';
import { ProjError } from '@proj/client';
import { ago, bytes, serverNow } from '@proj/dashboard/shared';
import type { DeadLetterRow, Model } from '@proj/dashboard/shared';
import * as z from 'zod';
import { confirm } from './confirm.js';
import { queueOptions } from './http/options.js';
import { openProgram } from './http/program.js';
import type { RemoteProgram } from './http/program.js';
import { frameForJson, frameForPeople } from './render.js';

const options = z.strictObject({
  ...queueOptions,
  all: onOff().default(false).describe('return, discard: all dead letters, instead of ids'),
  yes: onOff().default(false).describe('discard --all: do not ask'),
  raw: onOff().default(false).describe('show: write the raw bytes of the body'),
  json: onOff().default(false).describe('print JSON'),
});

type Settings = z.output<typeof options>;

/** A call of the command. */
interface Call {
  readonly program: RemoteProgram;
  readonly settings: Settings;
  readonly ids: readonly string[];
  readonly stop: AbortSignal;
  readonly print: (line: string) => void;
}

/** Lists dead letters, shows one, returns or discards several. */
export const dead = defineCommand({
  name: 'dead',
  summary:
    'Look at the dead letters of a PZQ queue over HTTP, return them to the queue, or discard them. All actions except list need --token-file.',
  options,
  operands: [
    {
      syntax: '<action>',
      help: 'list; show ID; return ID... or --all; discard ID... or --all',
      words: ['list', 'show', 'return', 'discard'],
    },
    { syntax: '[id...]', help: 'ids as printed by list' },
  ],
  examples: [
    { what: 'the dead letters of the queue of npm start', line: 'list' },
    { what: 'the bytes of one', line: 'show 17 --raw --token-file token >body.bin' },
    { what: 'return two to the queue', line: 'return 17 19 --token-file token' },
    { what: 'discard all of them, in a script', line: 'discard --all --yes --token-file token' },
  ],
  async run({ settings, operands: [action = '', ...ids], stop, print }) {
    if (!isAction(action) || !isWhole(action, ids, settings.all))
      throw new ProjError(
        'OPTIONS_INVALID',
        `dead ${[action, ...ids].join(' ')}: must be 'list', 'show ID', 'return ID...', 'return --all', 'discard ID...' or 'discard --all'`,
      );
    await ACTIONS[action]({ program: await openProgram(settings), settings, ids, stop, print });
    return 0;
  },
});

const ACTIONS = {
  list,
  show,
  return: (call: Call) => act(call, 'requeue-dead'),
  discard: async (call: Call) => {
    if (call.settings.all && !call.settings.yes)
      await confirm({
        what: `This discards all dead letters of ${call.program.url.href}.`,
        word: 'discard',
        stop: call.stop,
      });
    await act(call, 'discard-dead');
  },
};

const COLUMNS: Column<DeadLetterRow & { readonly now: number }>[] = [
  { heading: 'ID', cell: ({ id }) => printable(id) },
  { heading: 'REASON', cell: ({ reason }) => printable(reason) },
  { heading: 'DELIVERIES', cell: ({ attempts }) => attempts },
  { heading: 'SIZE', cell: (row) => bytes(row.bytes) },
  { heading: 'DIED', cell: ({ at, now }) => ago(at, now) },
];

async function list({ program, settings, stop, print }: Call): Promise<void> {
  const model = await program.model(stop);
  const rows = Object.values(model.deadLetters).sort((one, other) => one.at - other.at);
  if (settings.json) {
    print(JSON.stringify(rows));
    return;
  }
  const now = serverNow(model);
  for (const line of formatTable(
    COLUMNS,
    rows.map((row) => ({ ...row, now })),
  ))
    print(line);
  const more = deadIn(model) - rows.length;
  if (more > 0) print(`and ${more} more`);
}

/** The program lists only the first 500, but counts all. */
function deadIn({ servers }: Model): number {
  return Object.values(servers).reduce((sum, { gauges }) => sum + (gauges['dead'] ?? 0), 0);
}

async function show({ program, settings: { raw, json }, ids: [id = ''], stop, print }: Call): Promise<void> {
  const body = await program.deadLetter(id, stop);
  if (body === undefined) throw new ProjError('REJECTED', `${program.url.href}: there is no dead letter "${id}"`);
  if (raw) process.stdout.write(body);
  else print(json ? JSON.stringify({ id, body: frameForJson(body) }) : frameForPeople(body));
}

async function act(
  { program, settings, ids, stop, print }: Call,
  action: 'requeue-dead' | 'discard-dead',
): Promise<void> {
  const result = await program.act({ action, ids: settings.all ? 'all' : ids }, stop);
  print(settings.json ? JSON.stringify(result) : result.text);
}

function isAction(word: string): word is keyof typeof ACTIONS {
  return Object.hasOwn(ACTIONS, word);
}

/** Whether the number of ids is right for the action. */
function isWhole(action: keyof typeof ACTIONS, { length }: readonly string[], all: boolean): boolean {
  if (action === 'list') return length === 0 && !all;
  return action === 'show' ? length === 1 && !all : length > 0 !== all;
}
