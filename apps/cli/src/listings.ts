/** `proj services` and `proj workers`: what a broker knows. */
import { defineCommand, formatTable } from '@proj/appkit';
import type { Column } from '@proj/appkit';
import type { MmiServiceEntry, MmiWorkerEntry } from '@proj/client';
import { connectionOptions } from './options.js';
import { withClient } from './protocols/mdp.js';

const SERVICE_COLUMNS: Column<MmiServiceEntry>[] = [
  { heading: 'SERVICE', cell: ({ name }) => name },
  { heading: 'MDP', cell: ({ version }) => version },
  { heading: 'WORKERS', cell: ({ workers }) => workers },
  { heading: 'BUSY', cell: ({ busy }) => busy },
  { heading: 'WAITING', cell: ({ waiting }) => waiting },
];

const WORKER_COLUMNS: Column<MmiWorkerEntry>[] = [
  { heading: 'WORKER', cell: ({ id }) => id },
  { heading: 'SERVICE', cell: ({ service }) => service },
  { heading: 'MDP', cell: ({ version }) => version },
  { heading: 'STATE', cell: ({ busy }) => (busy ? 'busy' : 'idle') },
  { heading: 'SEEN MS AGO', cell: ({ lastSeenMs }) => Math.round(lastSeenMs) },
];

/** Lists services with their workers and queues. */
export const services = defineCommand({
  name: 'services',
  summary: 'List the services a broker knows: workers, how many of them are busy, requests that wait.',
  options: connectionOptions,
  examples: [
    { what: 'the broker of this machine', line: '' },
    { what: 'another broker, for a program', line: '--connect tcp://10.0.0.7:5555 --json' },
  ],
  async run({ settings, stop, print }) {
    const entries = await withClient(settings, stop, undefined, ({ client }) => client.services({ signal: stop }));
    for (const line of linesOf(entries, SERVICE_COLUMNS, settings.json)) print(line);
    return 0;
  },
});

/** Lists the workers of one service, or all. */
export const workers = defineCommand({
  name: 'workers',
  summary: 'List the workers of a service, or all workers, and when the broker last heard of them.',
  options: connectionOptions,
  operands: [{ syntax: '[service]', help: 'name of the service' }],
  examples: [
    { what: 'all workers', line: '' },
    { what: 'those of one service', line: 'echo' },
  ],
  async run({ settings, operands, stop, print }) {
    const entries = await withClient(settings, stop, undefined, ({ client }) =>
      client.workers(operands[0] ?? '', { signal: stop }),
    );
    for (const line of linesOf(entries, WORKER_COLUMNS, settings.json)) print(line);
    return 0;
  },
});

function linesOf<Row>(rows: readonly Row[], columns: Column<Row>[], json: boolean): string[] {
  return json ? [JSON.stringify(rows)] : formatTable(columns, rows);
}
