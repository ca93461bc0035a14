/** Majordomo 0.2 and 0.1 with MMI in proj-broker. */
import { bytes, endpointFromSchema, fromSchema, milliseconds, onOff, wholeNumber } from '@proj/appkit';
import { MdpBroker, mdpBrokerOptions } from '@proj/broker/mdp';
import type { MdpBrokerOptions } from '@proj/broker/mdp';
import * as z from 'zod';
import { ownSettings } from '../protocol.js';
import type { Protocol, SharedSettings } from '../protocol.js';
import { logEvents, WORKER_NOTICES } from './log-events.js';
import { shownOf } from './shown.js';

/** The limits and defaults of the broker. */
const { shape } = mdpBrokerOptions.in;

const options = z.strictObject({
  mdp: endpointFromSchema(shape.endpoint).describe('ROUTER for clients and workers of MDP 0.2 and 0.1, and for MMI'),
  mdpBusyExpiryMs: fromSchema(shape.busyExpiryMs, milliseconds).describe(
    'silence after which a busy worker is lost, if it sends heartbeats while it works (default: heartbeat x liveness)',
  ),
  mdpMuteExpiryMs: fromSchema(shape.muteExpiryMs, milliseconds).describe(
    'silence after which a busy worker is lost, if it has never sent a heartbeat while working (default: 300000, or the busy expiry if that is more)',
  ),
  mdpBusyTtlMs: fromSchema(shape.busyTtlMs, milliseconds).describe(
    'how long a request waits for busy workers; 0 is for ever',
  ),
  mdpMaxAttempts: fromSchema(shape.maxAttempts, wholeNumber).describe(
    'workers that one request may lose before it is dropped',
  ),
  mdpResendAfterPartial: fromSchema(shape.resendAfterPartial, onOff).describe(
    'give a lost job to another worker even if its client has received part of the reply',
  ),
  mdpBridge: fromSchema(shape.bridge, onOff).describe('let workers of one version serve clients of the other'),
  mdpAcceptLeadingEmpty: fromSchema(shape.acceptLeadingEmpty, onOff).describe(
    'accept 0.2 messages behind one empty frame, as majortomo workers send them',
  ),
  mdpMmiAdditions: fromSchema(shape.mmiAdditions, onOff).describe(
    'answer mmi.services and mmi.workers, which are not in 8/MMI',
  ),
  mdpRequestQueueMax: fromSchema(shape.requestQueueMax, wholeNumber).describe('requests that may wait for one service'),
  mdpRequestQueueMaxBytes: fromSchema(shape.requestQueueMaxBytes, bytes).describe('memory for all open requests'),
  mdpClientRequestsMax: fromSchema(shape.clientRequestsMax, wholeNumber).describe('open requests of one client'),
  mdpMaxMessageBytes: fromSchema(shape.maxMessageBytes, bytes).describe('largest message'),
});

type Settings = SharedSettings & z.output<typeof options>;

/** The protocol `mdp` of `--only`. */
export const mdp: Protocol<typeof options> = {
  title: 'Majordomo 0.2 and 0.1 with MMI',
  options,
  usual: { heartbeatMs: shape.heartbeatIntervalMs.def.defaultValue, liveness: shape.liveness.def.defaultValue },
  // `"MDP" ...`, behind an empty frame in 0.1.
  claim: ([first, second]) => (first?.length === 0 ? second : first)?.[0] === 0x4d,
  async serve(settings, { transport, log, access, onBroken }) {
    const broker = new MdpBroker({ ...brokerOptions(settings), access, transport });
    broker.on('broken', onBroken);
    logEvents(broker, WORKER_NOTICES, log);
    const [endpoint = settings.mdp] = await broker.start();
    return {
      endpoints: { mdp: endpoint },
      shown: shownOf(broker, { drainService: (name) => broker.drainService(name) }),
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
  const { mdp: endpoint, heartbeatMs, liveness, requestTtlMs, drainMs, registrationsPerSecondMax } = settings;
  return {
    ...ownSettings(settings, 'mdp'),
    ...{ endpoint, liveness, requestTtlMs, drainMs, registrationsPerSecondMax },
    heartbeatIntervalMs: heartbeatMs,
  };
}
