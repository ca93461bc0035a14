/** `proj services` and `proj workers`: what a Majordomo or NORFAB broker knows. */
import { defineCommand } from '@proj/appkit';
import type { Column } from '@proj/appkit';
import type { MmiServiceEntry, MmiWorkerEntry } from '@proj/client/mdp';
import type * as z from 'zod';
import { printableTable } from './http/cells.js';
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

/** A row from a NORFAB broker: its values by its own names. */
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
  summary: 'List the services that a broker knows: workers, busy workers, waiting requests.',
  options: listingOptions,
  examples: [
    { what: 'the broker on this machine', line: '' },
    { what: 'another broker, as JSON', line: '--connect tcp://10.0.0.7:5555 --json' },
    { what: 'a NORFAB broker of this project', line: '--protocol nfp' },
  ],
  run: async ({ settings, stop, print }) => {
    printListing(await listServices(settings, stop), settings.json, print);
    return 0;
  },
});

/** Lists the workers of one service, or of all. */
export const workers = defineCommand({
  name: 'workers',
  summary: 'List the workers of a service, or all workers, and when the broker last heard of them.',
  options: listingOptions,
  operands: [{ syntax: '[service]', help: 'name of the service' }],
  examples: [
    { what: 'all workers', line: '' },
    { what: 'the workers of one service', line: 'echo' },
    { what: 'the workers of one service at a NORFAB broker', line: 'sample --protocol nfp' },
  ],
  run: async ({ settings, operands: [service], stop, print }) => {
    printListing(await listWorkers(settings, service, stop), settings.json, print);
    return 0;
  },
});

type Settings = z.output<typeof listingOptions>;

/** What a broker answered, and the same as text. */
export interface Listing {
  readonly rows: readonly unknown[];
  readonly lines: readonly string[];
}

/** Asks a broker for its services. */
export async function listServices(settings: Settings, stop: AbortSignal): Promise<Listing> {
  const { protocol } = settings;
  if (protocol === 'nfp')
    return listing(
      await withNfpClient(settings, (client) => client.showServices({ signal: stop }).catch(explainUnknown)),
      NFP_SERVICE_COLUMNS,
    );
  const own = { ...settings, protocol };
  const entries = await withClient(own, stop, undefined, ({ client }) => client.services({ signal: stop }));
  return listing(entries, SERVICE_COLUMNS);
}

/** Asks a broker for the workers of one service, or of all. */
export async function listWorkers(
  settings: Settings,
  service: string | undefined,
  stop: AbortSignal,
): Promise<Listing> {
  const { protocol } = settings;
  if (protocol === 'nfp') {
    const kwargs = service === undefined ? {} : { service };
    const rows = await withNfpClient(settings, (client) => client.showWorkers({ kwargs, signal: stop }));
    return listing(rows, NFP_WORKER_COLUMNS);
  }
  const own = { ...settings, protocol };
  const entries = await withClient(own, stop, undefined, ({ client }) =>
    client.workers(service ?? '', { signal: stop }),
  );
  return listing(entries, WORKER_COLUMNS);
}

function listing<Row>(rows: readonly Row[], columns: Column<Row>[]): Listing {
  return { rows, lines: printableTable(columns, rows) };
}

function printListing({ rows, lines }: Listing, json: boolean, print: (line: string) => void): void {
  if (json) print(JSON.stringify(rows));
  else for (const line of lines) print(line);
}
