/** What the demonstration prints at the end. */
import { formatTable } from '@proj/appkit';
import type { Column } from '@proj/appkit';
import type { QueueEndpoints } from './queue-process.js';
import type { QueueTally } from './queue-tally.js';
import type { ServiceFigures } from './tally.js';

const SERVICE_COLUMNS: Column<ServiceFigures>[] = [
  { heading: 'service', cell: ({ service }) => service },
  { heading: 'requests', cell: ({ sent }) => sent },
  { heading: 'answers', cell: ({ answered }) => answered },
  { heading: 'wrong', cell: ({ mismatched }) => mismatched },
  { heading: 'workers used', cell: ({ answersByPid }) => answersByPid.size },
  { heading: 'p50 ms', cell: (tally) => tally.percentileMs(0.5).toFixed(1) },
  { heading: 'p99 ms', cell: (tally) => tally.percentileMs(0.99).toFixed(1) },
  { heading: 'answers/s', cell: ({ perSecond }) => Math.round(perSecond) },
];

/** A worker and what happened to it. */
export interface WorkerFate {
  readonly name: string;
  readonly pid: number;
  readonly wasKilled: boolean;
}

/** A table per service and one per worker: who answered how many requests. */
export function tables(tallies: readonly ServiceFigures[], workers: readonly WorkerFate[]): string[] {
  const workerColumns: Column<WorkerFate>[] = [
    { heading: 'worker', cell: ({ name }) => name },
    { heading: 'pid', cell: ({ pid }) => pid },
    ...tallies.map(({ service, answersByPid }) => ({
      heading: service,
      cell: ({ pid }: WorkerFate) => answersByPid.get(pid) ?? 0,
    })),
    { heading: '', cell: ({ wasKilled }) => (wasKilled ? 'killed half-way' : '') },
  ];
  return ['', ...formatTable(SERVICE_COLUMNS, tallies), '', ...formatTable(workerColumns, workers), ''];
}

/** Whether anything was lost, in a sentence or two. */
export function verdict(
  tallies: readonly ServiceFigures[],
  resends: { readonly broker: number; readonly client: number },
): string[] {
  const total = (field: 'sent' | 'answered' | 'failed' | 'mismatched') =>
    tallies.reduce((sum, tally) => sum + tally[field], 0);
  const counts = `${total('sent')} requests, ${total('answered')} answers, ${total('mismatched')} of them wrong`;
  const again = `The broker gave ${resends.broker} jobs of lost workers to others; the client had to repeat ${resends.client} requests.`;
  if (tallies.every(({ sound }) => sound)) return [`Nothing was lost: ${counts}.`, again];
  return [`NOT ALL WENT WELL: ${counts}, ${total('failed')} requests failed.`, again];
}

/** Whether the queue has kept its promise, in one sentence. */
export function queueVerdict(tally: QueueTally): string[] {
  const counts = `${tally.acknowledgedCount} messages acknowledged, ${tally.handledCount} delivered`;
  if (tally.sound) return [`Nothing was lost: ${counts}; none of the ${tally.settledCount} settled ones came back.`];
  const faults = `${tally.lostCount} lost, ${tally.returnedCount} came back, ${tally.repeatedCount} repeated, ${tally.wrongCount} changed`;
  return [`NOT ALL WENT WELL: ${counts}; ${faults}.`];
}

/**
 * Commands to try with the broker at `endpoint` and the queue. `start` returns the command that starts a program of this
 * repository.
 */
export function whereToLook(endpoint: string, queue: QueueEndpoints, start: (app: string) => string): string[] {
  const connect = `--connect ${endpoint}`;
  return [
    '',
    `The broker stays up at ${endpoint} until you press Ctrl-C. In another terminal:`,
    `  ${start('cli')} services ${connect}`,
    `  ${start('cli')} workers ${connect}`,
    `  ${start('cli')} call text-stats @README.md ${connect}`,
    `  ${start('worker')} --service echo ${connect}`,
    `  ${start('cli')} call echo hello ${connect}`,
    'And the queue:',
    `  ${start('cli')} push hello --connect ${queue.receive}`,
    `  ${start('cli')} monitor --connect ${queue.monitor}`,
    `  ${start('cli')} pull --connect ${queue.send}`,
    'Options and examples of each program: --help. The protocols: docs/protocols/mdp.md and docs/protocols/pzq.md.',
  ];
}
