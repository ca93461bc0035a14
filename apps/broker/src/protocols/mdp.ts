/** Majordomo 0.2 and 0.1 with MMI in proj-broker. */
import { bindEndpoint, bytes, milliseconds, onOff, wholeNumber } from '@proj/appkit';
import { MdpBroker } from '@proj/broker';
import type { MdpBrokerOptions } from '@proj/broker';
import * as z from 'zod';
import type { Protocol, SharedSettings } from '../protocol.js';
import { logEvents, WORKER_NOTICES } from './log-events.js';

const DAY_MS = 86_400_000;
const REQUESTS_MAX = 10_000_000;

const options = z.strictObject({
  mdp: bindEndpoint()
    .default('tcp://127.0.0.1:5555')
    .describe('ROUTER for clients and workers of MDP 0.2 and 0.1, and for MMI'),
  mdpBusyExpiryMs: milliseconds({ min: 10, max: DAY_MS })
    .optional()
    .describe('silence after which a worker is gone that beats while it works (default: heartbeat x liveness)'),
  mdpMuteExpiryMs: milliseconds({ min: 10, max: DAY_MS })
    .optional()
    .describe(
      'silence after which a worker is gone that was never heard while it worked (default: 300000, or the busy expiry if that is more)',
    ),
  mdpBusyTtlMs: milliseconds({ min: 0, max: DAY_MS })
    .default(0)
    .describe('how long a request waits for busy workers; 0 is for ever'),
  mdpMaxAttempts: wholeNumber({ min: 1, max: 100 })
    .default(3)
    .describe('workers that may be lost over one request before it is dropped'),
  mdpResendAfterPartial: onOff()
    .default(false)
    .describe('give a lost job to another worker although its client has had a part of the reply'),
  mdpBridge: onOff().default(false).describe('let workers of one version serve clients of the other'),
  mdpAcceptLeadingEmpty: onOff()
    .default(false)
    .describe('take 0.2 messages behind one empty frame, as majortomo workers send them'),
  mdpMmiAdditions: onOff().default(true).describe('answer mmi.services and mmi.workers, which 8/MMI does not know'),
  mdpRequestQueueMax: wholeNumber({ min: 1, max: REQUESTS_MAX })
    .default(200_000)
    .describe('requests that may wait for one service'),
  mdpRequestQueueMaxBytes: bytes({ min: 1024 }).default(536_870_912).describe('what all open requests may occupy'),
  mdpClientRequestsMax: wholeNumber({ min: 1, max: REQUESTS_MAX })
    .default(150_000)
    .describe('open requests of one client'),
  mdpMaxMessageBytes: bytes({ min: 1024 }).default(67_108_864).describe('largest message'),
});

type Settings = SharedSettings & z.output<typeof options>;

/** `mdp` of `--only`. */
export const mdp: Protocol<typeof options> = {
  options,
  // `"MDP" ...`, behind an empty frame in 0.1.
  claim: ([first, second]) => (first?.length === 0 ? second : first)?.[0] === 0x4d,
  async serve(settings, { transport, log, access, onBroken }) {
    const broker = new MdpBroker({ ...brokerOptions(settings), access, transport });
    broker.on('broken', onBroken);
    logEvents(broker, WORKER_NOTICES, log);
    const [endpoint = settings.mdp] = await broker.start();
    return {
      endpoints: { mdp: endpoint },
      stats: () => {
        const { services, ...stats } = broker.stats();
        return { ...stats, services: services.length };
      },
      setAccess: (rules) => {
        broker.setAccess(rules);
      },
      drain: () => broker.drain(),
    };
  },
};

function brokerOptions(settings: Settings): MdpBrokerOptions {
  const { heartbeatMs, liveness, mdpBusyExpiryMs, mdpMuteExpiryMs } = settings;
  return {
    endpoint: settings.mdp,
    ...(heartbeatMs === undefined ? {} : { heartbeatIntervalMs: heartbeatMs }),
    ...(liveness === undefined ? {} : { liveness }),
    ...(mdpBusyExpiryMs === undefined ? {} : { busyExpiryMs: mdpBusyExpiryMs }),
    ...(mdpMuteExpiryMs === undefined ? {} : { muteExpiryMs: mdpMuteExpiryMs }),
    requestTtlMs: settings.requestTtlMs,
    drainMs: settings.drainMs,
    busyTtlMs: settings.mdpBusyTtlMs,
    maxAttempts: settings.mdpMaxAttempts,
    resendAfterPartial: settings.mdpResendAfterPartial,
    bridge: settings.mdpBridge,
    acceptLeadingEmpty: settings.mdpAcceptLeadingEmpty,
    mmiAdditions: settings.mdpMmiAdditions,
    requestQueueMax: settings.mdpRequestQueueMax,
    requestQueueMaxBytes: settings.mdpRequestQueueMaxBytes,
    clientRequestsMax: settings.mdpClientRequestsMax,
    maxMessageBytes: settings.mdpMaxMessageBytes,
  };
}
