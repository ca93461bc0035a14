/** Converts the options of the program to those of the queue. */
import { processServerCurve } from '@proj/appkit';
import type { PzqServerOptions } from '@proj/pzq';
import type { QueueSettings } from './config.js';

/** All options except the program's own. */
export function serverOptions(settings: QueueSettings): PzqServerOptions {
  const { deadLetterSend, nackDelayMaxMs } = settings;
  const curve = processServerCurve();
  return {
    receive: settings.receive,
    send: settings.send,
    monitor: settings.monitor,
    ...(deadLetterSend === undefined ? {} : { deadLetterSend }),
    store: settings.store,
    ackTimeoutMs: settings.ackTimeoutMs,
    maxMessages: settings.maxMessages,
    maxBytes: settings.maxBytes,
    maxMessageBytes: settings.maxMessageBytes,
    maxParts: settings.maxParts,
    maxInFlight: settings.maxInFlight,
    maxInFlightBytes: settings.maxInFlightBytes,
    batchMax: settings.batchMax,
    batchMaxBytes: settings.batchMaxBytes,
    // A legal message must always fit into the write buffer, whatever its limit.
    intakeMaxBytes: Math.max(268_435_456, settings.maxMessageBytes),
    producerAckMax: settings.producerAckMax,
    dedupeWindowMs: settings.dedupeWindowMs,
    maxDeliveries: settings.maxDeliveries,
    deadLettersMax: settings.deadLettersMax,
    deadLetterExpired: settings.deadLetterExpired,
    delayMs: settings.delayMs,
    nackDelayMs: settings.nackDelayMs,
    ...(nackDelayMaxMs === undefined ? {} : { nackDelayMaxMs }),
    ttlMs: settings.ttlMs,
    extendLease: settings.extendLease,
    headers: settings.headers,
    probeIntervalMs: settings.probeIntervalMs,
    drainMs: settings.drainMs,
    name: settings.name,
    // The right to consume is checked in the handshake, so the server must know it from the start.
    ...(curve === undefined ? {} : { curve }),
  };
}
