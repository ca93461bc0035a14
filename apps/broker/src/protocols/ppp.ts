/** Paranoid Pirate in proj-broker: a queue between plain clients and workers. */
import { bindEndpoint, bytes, milliseconds, wholeNumber } from '@proj/appkit';
import { PppQueue } from '@proj/broker';
import type { PppQueueOptions } from '@proj/broker';
import * as z from 'zod';
import type { Protocol, SharedSettings } from '../protocol.js';
import { logEvents, WORKER_NOTICES } from './log-events.js';

const DAY_MS = 86_400_000;

const options = z.strictObject({
  pppFrontend: bindEndpoint()
    .default('tcp://127.0.0.1:5556')
    .describe('ROUTER for clients of the Paranoid Pirate queue: REQ, or DEALER with an empty frame'),
  pppBackend: bindEndpoint().default('tcp://127.0.0.1:5557').describe('ROUTER for its workers, which speak 6/PPP'),
  pppBusyExpiryMs: milliseconds({ min: 10, max: DAY_MS })
    .optional()
    .describe('silence after which a worker is gone that beats while it works (default: heartbeat x liveness)'),
  pppMuteExpiryMs: milliseconds({ min: 10, max: DAY_MS })
    .optional()
    .describe(
      'silence after which a worker is gone that was never heard while it worked (default: 300000, or the busy expiry if that is more)',
    ),
  pppJobTimeoutMs: milliseconds({ min: 0, max: DAY_MS })
    .default(0)
    .describe('how long a worker may keep a request however alive it is; 0 is for ever'),
  pppMaxAttempts: wholeNumber({ min: 1, max: 100 })
    .default(3)
    .describe('workers that may be lost over one request before it is dropped'),
  pppRequestQueueMax: wholeNumber({ min: 1, max: 10_000_000 }).default(100_000).describe('requests that may wait'),
  pppRequestQueueMaxBytes: bytes({ min: 1024 }).default(268_435_456).describe('what all open requests may occupy'),
  pppMaxMessageBytes: bytes({ min: 1024 }).default(67_108_864).describe('largest message'),
});

type Settings = SharedSettings & z.output<typeof options>;

/** `ppp` of `--only`. */
export const ppp: Protocol<typeof options> = {
  options,
  async serve(settings, { transport, log, access, onBroken }) {
    const queue = new PppQueue({ ...queueOptions(settings), access, transport });
    queue.on('broken', onBroken);
    logEvents(queue, WORKER_NOTICES, log);
    const { frontend, backend } = await queue.start();
    return {
      endpoints: {
        pppFrontend: frontend[0] ?? settings.pppFrontend,
        pppBackend: backend[0] ?? settings.pppBackend,
      },
      stats: () => queue.stats(),
      setAccess: (rules) => {
        queue.setAccess(rules);
      },
      drain: () => queue.drain(),
    };
  },
};

function queueOptions(settings: Settings): PppQueueOptions {
  const { heartbeatMs, liveness, pppBusyExpiryMs, pppMuteExpiryMs } = settings;
  return {
    frontend: settings.pppFrontend,
    backend: settings.pppBackend,
    ...(heartbeatMs === undefined ? {} : { heartbeatIntervalMs: heartbeatMs }),
    ...(liveness === undefined ? {} : { liveness }),
    ...(pppBusyExpiryMs === undefined ? {} : { busyExpiryMs: pppBusyExpiryMs }),
    ...(pppMuteExpiryMs === undefined ? {} : { muteExpiryMs: pppMuteExpiryMs }),
    requestTtlMs: settings.requestTtlMs,
    drainMs: settings.drainMs,
    jobTimeoutMs: settings.pppJobTimeoutMs,
    maxAttempts: settings.pppMaxAttempts,
    requestQueueMax: settings.pppRequestQueueMax,
    requestQueueMaxBytes: settings.pppRequestQueueMaxBytes,
    maxMessageBytes: settings.pppMaxMessageBytes,
  };
}
