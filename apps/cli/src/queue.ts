/** `proj queue`: what is left of a damaged store of queues, jobs or schedules. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defineCommand, onOff } from '@proj/appkit';
import { ProjError } from '@proj/client';
import { checkQueue, salvageQueue } from '@proj/pzq';
import type { StoreCheck } from '@proj/pzq';
import { checkRecords, salvageRecords } from '@proj/store';
import * as z from 'zod';

interface Care {
  check(folder: string): Promise<StoreCheck>;
  salvage(folder: string, newFolder: string): Promise<StoreCheck>;
}

const QUEUE: Care = { check: checkQueue, salvage: salvageQueue };
const RECORDS: Care = { check: checkRecords, salvage: salvageRecords };

/** Checks a folder, or copies what is readable. */
export const queue = defineCommand({
  name: 'queue',
  summary:
    'Check a store on this machine that no program has open: say what is readable, or copy that into a new folder.',
  options: z.strictObject({ json: onOff().default(false).describe('print JSON') }),
  operands: [
    {
      syntax: '<action>',
      words: ['check', 'salvage'],
      help: 'check: change nothing, exit with 1 if something is damaged; salvage: write NEWFOLDER',
    },
    { syntax: '<folder>', help: 'folder of a queue (queue.mdb), or of jobs or schedules (records.mdb)' },
    { syntax: '[newfolder]', help: 'for salvage: created if missing; must not hold a store' },
  ],
  examples: [
    { what: 'what is readable in a queue', line: 'check /var/lib/orders' },
    {
      what: 'copy it; then start the queue with --store lmdb:/var/lib/orders-2',
      line: 'salvage /var/lib/orders /var/lib/orders-2',
    },
    { what: 'the schedules of a scheduler, as JSON', line: 'check /var/lib/schedules --json' },
  ],
  async run({ settings, operands, print }) {
    const [action, folder = '', newFolder] = operands;
    const care = existsSync(join(folder, 'records.mdb')) ? RECORDS : QUEUE;
    const found = await act(care, action, folder, newFolder);
    if (settings.json) print(JSON.stringify(found));
    else for (const line of describe(found, action === 'salvage' ? 'carried over' : 'readable')) print(line);
    return action === 'check' && found.damaged > 0 ? 1 : 0;
  },
});

function act(
  care: Care,
  action: string | undefined,
  folder: string,
  newFolder: string | undefined,
): Promise<StoreCheck> {
  if (action === 'check' && newFolder === undefined) return care.check(folder);
  if (action === 'salvage' && newFolder !== undefined) return care.salvage(folder, newFolder);
  const text = `queue ${[action, folder, newFolder].filter((word) => word !== undefined).join(' ')}`;
  throw new ProjError('OPTIONS_INVALID', `${text}: must be 'check FOLDER' or 'salvage FOLDER NEWFOLDER'`);
}

function describe({ readable, damaged, damages }: StoreCheck, how: string): readonly string[] {
  const counts = Object.entries(readable).map(([what, count]) => `${what}: ${count} ${how}`);
  const more = damaged - damages.length;
  return [
    ...counts,
    `damaged: ${damaged === 0 ? 'nothing' : `${damaged} ${damaged === 1 ? 'place' : 'places'}`}`,
    ...damages.map((text) => `  ${text}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}
