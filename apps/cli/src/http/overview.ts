/** What a program reports over HTTP, ready to be drawn. Pure. */
import { printable } from '@proj/appkit';
import { bytes, count, duration, percent, rate, serverNow } from '@proj/dashboard/shared';
import type { Model } from '@proj/dashboard/shared';
import type { Overview } from '../overview.js';
import { TABLES } from './tables.js';

/** The overview of this model. */
export function overviewOf(model: Model): Overview {
  return {
    headline: headline(model),
    figures: figuresOf(model),
    faults: faultLines(model),
    tables: TABLES.map((table) => table(model)),
  };
}

/** Which program it is, and how long it has been running. */
function headline({ process: row, ...model }: Model): string {
  const { name, version, pid, startedAt, isDraining } = row;
  const age = duration(Math.max(0, serverNow({ process: row, ...model }) - startedAt));
  return printable(`${name} ${version}, process ${pid}, up ${age}${isDraining ? ', draining' : ''}`);
}

/** Its throughput, and the resources it uses. */
function figuresOf({ history, servers, process: { memoryHeldBytes, memoryMaxBytes } }: Model): string {
  const point = history.at(-1);
  if (point === undefined) return 'no figures yet';
  const { ended, failed, p50, p99, waiting, running, ready, inFlight, dead, busy, rssBytes } = point;
  const requests = [
    `${rate(ended)} requests/s`,
    ...(failed > 0 ? [`${rate(failed)} failed/s`] : []),
    `p50 ${duration(p50)}`,
    `p99 ${duration(p99)}`,
    `${count(waiting)} waiting`,
    `${count(running)} running`,
  ];
  const messages = [`${count(ready)} ready`, `${count(inFlight)} in flight`, `${count(dead)} dead`];
  const { pzq: queue } = servers;
  const isOnlyQueue = Object.keys(servers).join() === 'pzq';
  return [
    ...(isOnlyQueue ? [] : requests),
    ...(queue === undefined ? [] : messages),
    ...(queue?.commit === undefined || queue.commit.count === 0 ? [] : [`commit p99 ${duration(queue.commit.p99)}`]),
    `busy ${percent(busy)}`,
    `memory ${bytes(rssBytes)}`,
    ...(memoryMaxBytes > 0 ? [`peers hold ${percent(memoryHeldBytes / memoryMaxBytes)}`] : []),
  ].join(', ');
}

/** The faults, oldest first, each as one sentence. */
function faultLines({ faults }: Model): string[] {
  return Object.values(faults)
    .sort((one, other) => one.since - other.since)
    .map(({ code, text }) => printable(`${code}: ${text}`));
}
