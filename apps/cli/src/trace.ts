/** `proj trace`: one request, or one peer, through the log of a broker that ran at level trace. */
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { defineCommand, onOff, text } from '@proj/appkit';
import { ProjError } from '@proj/client';
import * as z from 'zod';

const options = z.strictObject({
  log: text('FILE', 'a file name')
    .optional()
    .describe('log of proj-broker or proj-queue with --log-level trace --log-format json (default: standard input)'),
  json: onOff().default(false).describe('print the lines of the log unchanged'),
});

/** The fields of a line that are read here; all lines have a time and a message. */
const schema = z.looseObject({
  time: z.string(),
  msg: z.string(),
  protocol: z.string().default(''),
  command: z.string().default(''),
  reason: z.string().default(''),
  id: z.string().default(''),
  peer: z.string().default(''),
  peerName: z.string().default(''),
  service: z.string().default(''),
  bytes: z.number().optional(),
});

type Line = z.output<typeof schema>;

/** Follows an id. */
export const trace = defineCommand({
  name: 'trace',
  summary: 'Follow one request, or one peer, through the log of a broker or queue that runs at level trace.',
  options,
  operands: [
    { syntax: '<id>', help: 'id of a message, uuid of a job, key of a message, or routing id of a peer in hex' },
  ],
  examples: [
    { what: 'a NORFAB job', line: '5c1e3c1f0c6f4a0a9a0e6f2f8d1b7e11 --log broker.log' },
    { what: 'all requests of a Majordomo client, as they happen', line: '006b8b4567 < broker.log' },
  ],
  async run({ settings, operands, print }) {
    const [id = ''] = operands;
    const input = settings.log === undefined ? process.stdin : await readable(settings.log);
    let found = 0;
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      const read = line.includes(id) ? parse(line) : undefined;
      if (read === undefined || ![read.id, read.peer, read.peerName].includes(id)) continue;
      found++;
      print(settings.json ? line : inWords(read));
    }
    return found > 0 ? 0 : 1;
  },
});

async function readable(path: string) {
  try {
    return (await open(path)).createReadStream();
  } catch (cause) {
    throw new ProjError('OPTIONS_INVALID', `--log = ${JSON.stringify(path)}: cannot be read`, { cause });
  }
}

/** Other lines may be mixed into a log. */
function parse(line: string): Line | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function inWords({ time, msg, protocol, command, reason, peer, service, bytes }: Line): string {
  const what = reason === '' ? command : `${command} ${reason}`.trimStart();
  const words = [time.slice(11, 23), msg.padEnd(3), protocol, what.padEnd(16), peer, service];
  return [...words, bytes === undefined ? '' : `${bytes} B`].filter((word) => word !== '').join('  ');
}
