/** Fields that the options of all brokers have in common: what an endpoint, a time and a count may be. */
import { accessRules, endpointOf } from '@proj/transport/schemas';
import * as z from 'zod';

export { milliseconds, curveOfServer as curve, transportOfServer as transport } from '@proj/transport/schemas';

const endpoint = endpointOf('must be a ZeroMQ endpoint such as tcp://127.0.0.1:5555 or ipc:///run/broker.sock');

/** Where one ROUTER binds: one endpoint, or up to 16. Port `*` allowed. */
export const endpoints = z.union([endpoint, z.array(endpoint).min(1).max(16)]);

/** Who may do what. */
export const access = accessRules('echo');

/** What `setAccess` of a facade takes. */
export const accessOptions = z.strictObject({
  /** The rules, all of them. */
  access,
});

/** A number of things, at least one. */
export const count = (max: number) => z.int().min(1).max(max);

/** How long a busy worker may be silent that was never heard at work. Longer than most jobs. */
const MUTE_EXPIRY_MS = 300_000;

/** When a silent worker is dead, as the options of a broker have it. */
interface Silence {
  readonly heartbeatIntervalMs: number;
  readonly liveness: number;
  readonly busyExpiryMs?: number | undefined;
  readonly muteExpiryMs?: number | undefined;
}

/** Refuses limits by which every job outlives its worker, or mute workers die before those that beat at work. */
export function checkSilence(silence: Silence, context: z.RefinementCtx): void {
  const { heartbeatIntervalMs, muteExpiryMs } = silence;
  const { busyExpiryMs } = withSilence(silence);
  if (busyExpiryMs < heartbeatIntervalMs) {
    const message = 'must be at least heartbeatIntervalMs, or every job outlives its worker';
    context.addIssue({ code: 'custom', path: ['busyExpiryMs'], message });
  }
  if (muteExpiryMs !== undefined && muteExpiryMs < busyExpiryMs) {
    const message = `must be at least ${busyExpiryMs.toString()}, the busyExpiryMs of workers that beat at work`;
    context.addIssue({ code: 'custom', path: ['muteExpiryMs'], message });
  }
}

/** The same with its defaults filled in. */
export function withSilence<Options extends Silence>(options: Options) {
  const { heartbeatIntervalMs, liveness, busyExpiryMs = heartbeatIntervalMs * liveness, muteExpiryMs } = options;
  return { ...options, busyExpiryMs, muteExpiryMs: muteExpiryMs ?? Math.max(MUTE_EXPIRY_MS, busyExpiryMs) };
}
