/** The sequence of the demonstration: work, a crash in the middle, the summary. */
import { processTransport } from '@proj/appkit';
import type { ChildProgram } from '@proj/appkit';
import { MdpClient } from '@proj/client';
import type { SourceFile } from './corpus.js';
import { SERVICES } from './fleet.js';
import type { Fleet } from './fleet.js';
import { Progress } from './progress.js';
import type { Output } from './progress.js';
import { tables, verdict } from './report.js';
import { runWorkload } from './workload.js';

/** Longer than a broker takes to notice a dead worker only by its silence. */
const TIMEOUT_MS = 10_000;

/** How many faults are reported one by one. */
const FAULTS_SHOWN = 10;

/** What to demonstrate, and where to print it. */
export interface Demonstration {
  readonly folder: string;
  readonly files: readonly SourceFile[];
  readonly inFlight: number;
  /** Whether to kill a worker half-way. */
  readonly crash: boolean;
  readonly signal: AbortSignal;
  readonly output: Output;
}

/** Runs the workload on a fleet and prints what happens; true if every request got the right answer. */
export async function demonstrate(fleet: Fleet, demonstration: Demonstration): Promise<boolean> {
  const { files, inFlight, crash, signal, output } = demonstration;
  const total = files.length * SERVICES.length;
  const progress = new Progress(output, total);
  await using client = new MdpClient({
    endpoints: [fleet.endpoint],
    sockets: inFlight,
    timeoutMs: TIMEOUT_MS,
    transport: processTransport(),
  });
  progress.say(`Sending ${files.length} files to ${SERVICES.join(' and ')}: ${total} requests, ${inFlight} at a time.`);
  let victim: ChildProgram | undefined;
  let faults = 0;
  const tallies = await runWorkload(client, {
    ...demonstration,
    onStep: () => {
      progress.step();
      if (!crash || victim !== undefined || progress.done < total / 2) return;
      victim = fleet.workers[0];
      if (victim === undefined) return;
      void fleet.crash(victim);
      progress.say(`  ${victim.name} (process ${victim.pid}) is frozen with jobs in hand, then killed.`);
    },
    onFault: (line) => {
      if (++faults <= FAULTS_SHOWN) progress.say(`  ${line}`);
    },
  });
  const answered = tallies.reduce((sum, tally) => sum + tally.answered, 0);
  const { resends } = await fleet.counters(answered, signal);
  const { calls, sends } = client.stats();
  const fates = fleet.workers.map((worker) => ({ name: worker.name, pid: worker.pid, wasKilled: worker === victim }));
  for (const line of tables(tallies, fates)) progress.say(line);
  for (const line of verdict(tallies, { broker: resends, client: sends - calls })) progress.say(line);
  return tallies.every(({ sound }) => sound);
}
