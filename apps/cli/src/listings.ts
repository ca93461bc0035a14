/** `proj services` and `proj workers`: what a broker of Majordomo or NORFAB knows. */
import { defineCommand, formatTable } from '@proj/appkit';
import type { Column } from '@proj/appkit';
import type { MmiServiceEntry, MmiWorkerEntry } from '@proj/client/mdp';
import { listingOptions } from './options.js';
import { withClient } from './protocols/mdp.js';
import { explainUnknown, withNfpClient } from './protocols/nfp.js';

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

/** A row of a NORFAB broker: what it says, by what it calls it. */
type NfpRow = Readonly<Record<string, unknown>>;

const nfpColumn = (heading: string, name: string): Column<NfpRow> => ({
  heading,
  cell: (row) => {
    const value = row[name];
    return typeof value === 'string' || typeof value === 'number' ? value : '';
  },
});

const NFP_SERVICE_COLUMNS = [
  nfpColumn('SERVICE', 'name'),
  nfpColumn('WORKERS', 'workers'),
  nfpColumn('ALIVE', 'workers alive'),
  nfpColumn('WAITING', 'queued'),
];

const NFP_WORKER_COLUMNS = [
  nfpColumn('WORKER', 'name'),
  nfpColumn('SERVICE', 'service'),
  nfpColumn('STATE', 'status'),
  nfpColumn('HOLD S', 'holdtime'),
  nfpColumn('KEEPALIVES TX/RX', 'keepalives tx/rx'),
  nfpColumn('ALIVE S', 'alive (s)'),
];

/** Lists services with their workers and queues. */
export const services = defineCommand({
  name: 'services',
  summary: 'List the services a broker knows: workers, how many of them are busy, requests that wait.',
  options: listingOptions,
  examples: [
    { what: 'the broker of this machine', line: '' },
    { what: 'another broker, for a program', line: '--connect tcp://10.0.0.7:5555 --json' },
    { what: 'a NORFAB broker of this project', line: '--protocol nfp' },
  ],
  async run({ settings, stop, print }) {
    if (settings.protocol === 'nfp') {
      const rows = await withNfpClient(settings, (client) =>
        client.showServices({ signal: stop }).catch(explainUnknown),
      );
      for (const line of linesOf(rows, NFP_SERVICE_COLUMNS, settings.json)) print(line);
      return 0;
    }
    const own = { ...settings, protocol: settings.protocol };
    const entries = await withClient(own, stop, undefined, ({ client }) => client.services({ signal: stop }));
    for (const line of linesOf(entries, SERVICE_COLUMNS, settings.json)) print(line);
    return 0;
  },
});

/** Lists the workers of one service, or all. */
export const workers = defineCommand({
  name: 'workers',
  summary: 'List the workers of a service, or all workers, and when the broker last heard of them.',
  options: listingOptions,
  operands: [{ syntax: '[service]', help: 'name of the service' }],
  examples: [
    { what: 'all workers', line: '' },
    { what: 'those of one service', line: 'echo' },
    { what: 'those of a service at a NORFAB broker', line: 'sample --protocol nfp' },
  ],
  async run({ settings, operands, stop, print }) {
    if (settings.protocol === 'nfp') {
      const kwargs = operands[0] === undefined ? {} : { service: operands[0] };
      const rows = await withNfpClient(settings, (client) => client.showWorkers({ kwargs, signal: stop }));
      for (const line of linesOf(rows, NFP_WORKER_COLUMNS, settings.json)) print(line);
      return 0;
    }
    const own = { ...settings, protocol: settings.protocol };
    const entries = await withClient(own, stop, undefined, ({ client }) =>
      client.workers(operands[0] ?? '', { signal: stop }),
    );
    for (const line of linesOf(entries, WORKER_COLUMNS, settings.json)) print(line);
    return 0;
  },
});

function linesOf<Row>(rows: readonly Row[], columns: Column<Row>[], json: boolean): string[] {
  return json ? [JSON.stringify(rows)] : formatTable(columns, rows);
}
