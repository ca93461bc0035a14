/** Paranoid Pirate in proj-broker: a queue between plain clients and workers. */
import { bindEndpoint, bytes, connectEndpoints, fromSchema, milliseconds, wholeNumber } from '@proj/appkit';
import { PppQueue, pppQueueOptions } from '@proj/broker/ppp';
import type { PppQueueOptions } from '@proj/broker/ppp';
import * as z from 'zod';
import { ownSettings } from '../protocol.js';
import type { Protocol, SharedSettings } from '../protocol.js';
import { logEvents, WORKER_NOTICES } from './log-events.js';
import { shownOf } from './shown.js';

/** The limits and defaults of the queue. */
const { shape } = pppQueueOptions.in;

const options = z.strictObject({
  pppFrontend: bindEndpoint()
    .optional()
    .describe(
      'ROUTER for clients of the Paranoid Pirate queue (default: tcp://127.0.0.1:5556, or none with --ppp-frontend-connect)',
    ),
  pppFrontendConnect: connectEndpoints()
    .optional()
    .describe('clients that bind; the same ROUTER connects to them (default: none)'),
  pppBackend: bindEndpoint()
    .optional()
    .describe(
      'ROUTER for Paranoid Pirate workers, which speak 6/PPP (default: tcp://127.0.0.1:5557, or none with --ppp-backend-connect)',
    ),
  pppBackendConnect: connectEndpoints()
    .optional()
    .describe('workers that bind; the same ROUTER connects to them (default: none)'),
  pppBusyExpiryMs: fromSchema(shape.busyExpiryMs, milliseconds).describe(
    'silence after which a busy worker is lost, if it sends heartbeats while it works (default: heartbeat x liveness)',
  ),
  pppMuteExpiryMs: fromSchema(shape.muteExpiryMs, milliseconds).describe(
    'silence after which a busy worker is lost, if it has never sent a heartbeat while working (default: 300000, or the busy expiry if that is more)',
  ),
  pppJobTimeoutMs: fromSchema(shape.jobTimeoutMs, milliseconds).describe(
    'how long a worker may keep a request, even if it sends heartbeats; 0 is for ever',
  ),
  pppMaxAttempts: fromSchema(shape.maxAttempts, wholeNumber).describe(
    'workers that one request may lose before it is dropped',
  ),
  pppRequestQueueMax: fromSchema(shape.requestQueueMax, wholeNumber).describe('requests that may wait'),
  pppRequestQueueMaxBytes: fromSchema(shape.requestQueueMaxBytes, bytes).describe('memory for all open requests'),
  pppMaxMessageBytes: fromSchema(shape.maxMessageBytes, bytes).describe('largest message'),
});

type Settings = SharedSettings & z.output<typeof options>;

/** The protocol `ppp` of `--only`. */
export const ppp: Protocol<typeof options> = {
  title: 'Paranoid Pirate',
  options,
  usual: { heartbeatMs: shape.heartbeatIntervalMs.def.defaultValue, liveness: shape.liveness.def.defaultValue },
  async serve(settings, { transport, log, access, onBroken }) {
    const queue = new PppQueue({ ...queueOptions(settings), access, transport });
    queue.on('broken', onBroken);
    logEvents(queue, WORKER_NOTICES, log);
    const { frontend, backend } = await queue.start();
    return {
      endpoints: {
        ...(frontend[0] === undefined ? {} : { pppFrontend: frontend[0] }),
        ...(backend[0] === undefined ? {} : { pppBackend: backend[0] }),
      },
      shown: shownOf(queue),
      stats: () => queue.stats(),
      setAccess: (rules) => {
        queue.setAccess(rules);
      },
      drain: () => queue.drain(),
    };
  },
};

function queueOptions(settings: Settings): PppQueueOptions {
  const { heartbeatMs, liveness, requestTtlMs, drainMs, registrationsPerSecondMax } = settings;
  return {
    ...ownSettings(settings, 'ppp'),
    ...{ liveness, requestTtlMs, drainMs, registrationsPerSecondMax },
    heartbeatIntervalMs: heartbeatMs,
  };
}
