/** `proj monitor`: the statistics of a PZQ queue. */
import { defineCommand, processTransport } from '@proj/appkit';
import type { Column } from '@proj/appkit';
import { isProjError, LazyPirateClient, ProjError } from '@proj/client';
import { decodePzqMonitorReply, decodePzqMonitorText } from '@proj/frames/pzq';
import type * as z from 'zod';
import { printableTable } from './http/cells.js';
import { monitorOptions } from './options.js';

const COLUMNS: Column<readonly [string, string]>[] = [
  { heading: 'NAME', cell: ([name]) => name },
  { heading: 'VALUE', cell: ([, value]) => value },
];

/** Prints the statistics of a queue. */
export const monitor = defineCommand({
  name: 'monitor',
  summary: 'Print the statistics of a queue: messages, bytes, deliveries. The original PZQ answers too.',
  options: monitorOptions,
  examples: [
    { what: 'the queue on this machine', line: '' },
    { what: 'another queue, as JSON', line: '--connect tcp://10.0.0.7:11133 --json' },
  ],
  run: ({ settings, stop, print }) => printMonitor(settings, stop, print),
});

/** Asks a queue at its monitor socket and prints the answer. */
export async function printMonitor(
  { connect, timeoutMs, tries, transport, json }: z.output<typeof monitorOptions>,
  stop: AbortSignal,
  print: (line: string) => void,
): Promise<number> {
  // Works like a REQ: the monitor answers one question at a time, under an empty frame.
  await using client = new LazyPirateClient({
    endpoints: connect,
    timeoutMs,
    tries,
    transport: processTransport(transport),
  });
  const reply = decodePzqMonitorReply(await client.request('MONITOR', { signal: stop }).catch(advise(connect)));
  if (reply.kind === 'malformed')
    throw new ProjError('PROTOCOL_REMOTE', `the socket at ${connect.join(', ')} is not the monitor socket of a queue`);
  const values = [...decodePzqMonitorText(reply.text)];
  if (json) print(JSON.stringify(Object.fromEntries(values.map(([name, value]) => [name, plain(value)]))));
  else for (const line of printableTable(COLUMNS, values)) print(line);
  return 0;
}

/** A number if it can be converted without loss. */
function plain(value: string): string | number {
  const number = Number(value);
  return value !== '' && String(number) === value ? number : value;
}

function advise(endpoints: readonly string[]) {
  return (error: unknown): never => {
    if (!isProjError(error, 'TIMEOUT')) throw error;
    throw new ProjError('TIMEOUT', `${error.message}; no queue has its monitor socket at ${endpoints.join(', ')}`);
  };
}
