/** The work of the demonstration: every file to every service, every answer checked. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestService, textStatsService } from '@proj/appkit';
import type { MdpClient } from '@proj/client';
import type { SourceFile } from './corpus.js';
import { SERVICES } from './fleet.js';
import { ServiceFigures } from './tally.js';

type ServiceName = (typeof SERVICES)[number];

/** The work to do. */
export interface Workload {
  readonly folder: string;
  readonly files: readonly SourceFile[];
  /** Requests open at the same time. */
  readonly inFlight: number;
  readonly signal: AbortSignal;
  /** Called after every request, answered or not. */
  readonly onStep: () => void;
  /** Called for a request that failed or got a wrong answer. */
  readonly onFault: (line: string) => void;
}

/** An answer, as this check needs it. */
interface Answer {
  readonly pid: number;
  readonly isRight: boolean;
}

const textStats = textStatsService('text-stats');
const digest = digestService('sha256');

const ASK: Record<ServiceName, (client: MdpClient, bytes: Buffer, signal: AbortSignal) => Promise<Answer>> = {
  'text-stats': async (client, bytes, signal) => {
    const { pid, ...stats } = await client.request(textStats, bytes, { signal });
    return { pid, isRight: stats.bytes === bytes.length && stats.lines === countLines(bytes) };
  },
  sha256: async (client, bytes, signal) => {
    const { pid, digest: theirs } = await client.request(digest, bytes, { signal });
    return { pid, isRight: theirs === createHash('sha256').update(bytes).digest('hex') };
  },
};

/** Sends every file to every service and returns the tallies per service. Rejects with the signal's reason. */
export async function runWorkload(client: MdpClient, workload: Workload): Promise<ServiceFigures[]> {
  const tallies = SERVICES.map((service) => new ServiceFigures(service));
  const jobs = workload.files.flatMap((file) => tallies.map((tally) => ({ file, tally }))).values();
  const runner = async () => {
    for (const { file, tally } of jobs) {
      await runJob(client, file, tally, workload);
      workload.onStep();
    }
  };
  await Promise.all(Array.from({ length: workload.inFlight }, runner));
  return tallies;
}

async function runJob(client: MdpClient, file: SourceFile, tally: ServiceFigures, workload: Workload): Promise<void> {
  const { folder, signal, onFault } = workload;
  signal.throwIfAborted();
  const bytes = await readFile(join(folder, file.path));
  const sentMs = performance.now();
  tally.sent++;
  try {
    const { pid, isRight } = await ASK[tally.service as ServiceName](client, bytes, signal);
    tally.answer(pid, sentMs, performance.now());
    if (isRight) return;
    tally.mismatched++;
    onFault(`${tally.service} ${file.path}: wrong answer from process ${pid}`);
  } catch (error) {
    signal.throwIfAborted();
    tally.failed++;
    onFault(`${tally.service} ${file.path}: ${String(error)}`);
  }
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++;
  return bytes.length > 0 && bytes.at(-1) !== 10 ? lines + 1 : lines;
}
