/** For tests: the model of a small program. */
import type { Model } from '@proj/dashboard/shared';

const NONE = { count: 0, p50: 0, p95: 0, p99: 0 };
const NOW_S = 1_800_000_000;
const NOW = NOW_S * 1000;

function service(
  protocol: string,
  name: string,
  more: Partial<Model['services'][string]> = {},
): Model['services'][string] {
  return {
    ...{ protocol, name, requests: 0, outcomes: {}, resends: 0, rate: 0, waiting: 0, oldestWaitingMs: 0, running: 0 },
    ...{ workers: 1, wait: NONE, work: NONE, ...more },
  };
}

function worker(id: string, more: Partial<Model['workers'][string]> = {}): Model['workers'][string] {
  return {
    ...{ protocol: 'mdp', id, services: ['echo'], state: 'idle', stateSince: NOW - 5000, lastHeard: NOW - 1000 },
    ...{ running: 0, done: 3, resends: 0, refused: {}, ...more },
  };
}

/** A broker with one service in each state, an EventMQ queue, a durable queue, three workers and two clients. */
export function smallModel(): Model {
  return {
    process: {
      ...{ name: 'proj-broker', version: '1.2.3', pid: 42, startedAt: NOW - 180_000, isDraining: false },
      ...{ hasActions: false, memoryMaxBytes: 1000, memoryHeldBytes: 20 },
    },
    servers: {
      mdp: {
        protocol: 'mdp',
        endpoints: {},
        counters: {},
        dropped: {},
        refused: {},
        actions: [],
        gauges: {},
      },
      pzq: {
        ...{ protocol: 'pzq', endpoints: {}, counters: {}, dropped: {}, refused: {}, actions: [] },
        commit: { count: 9, p50: 1, p95: 3, p99: 4 },
        gauges: { ready: 900, inFlight: 32, delayed: 5, dead: 2 },
      },
    },
    services: {
      'mdp/echo': service('mdp', 'echo', {
        ...{ rate: 12.5, outcomes: { ok: 90, expired: 4 }, running: 3 },
        work: { count: 60, p50: 1.2, p95: 9, p99: 20 },
      }),
      'mdp/billing': service('mdp', 'billing', { waiting: 7, oldestWaitingMs: 65_000, workers: 0 }),
      'emqp/mail': service('emqp', 'mail', { waiting: 1, running: 2, isPaused: true }),
    },
    workers: {
      'mdp/w1': worker('w1', { state: 'busy', stateSince: NOW - 70_000, running: 1 }),
      'mdp/w2': worker('w2'),
      'mdp/w3': worker('w3', { state: 'away', stateSince: NOW - 1000 }),
    },
    clients: {
      'mdp/c1': { protocol: 'mdp', id: 'c1', open: 2, refused: {} },
      'mdp/c2': { protocol: 'mdp', id: 'c2', open: 0, refused: { 'no-service': 40, envelope: 2 } },
    },
    schedules: {
      j1: { id: 'j1', when: 'every 10 s', target: 'mail', nextAt: NOW + 4000, runs: 3, lastOutcome: 'ok' },
      j2: { id: 'j2', when: '0 4 * * *', target: 'clean', runs: 1 },
    },
    deadLetters: {},
    faults: {
      'service-without-workers/mdp/billing': {
        code: 'service-without-workers',
        href: '/services/mdp/billing',
        text: 'Service billing has no workers; 7 requests wait, the oldest for 65.0 s: start a worker.',
        since: NOW - 60_000,
      },
    },
    notes: [],
    history: [
      {
        ...{ at: NOW_S, ended: 12, failed: 1, p50: 1.5, p99: 25, waiting: 7, running: 3 },
        ...{ ready: 900, inFlight: 32, dead: 2, busy: 0.25, rssBytes: 90 * 2 ** 20 },
      },
    ],
  };
}
