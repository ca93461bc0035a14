/** Defaults and bounds of {@link PortOptions}, the same for every adapter, taken from ZeroMQ in practice. */
import { ProjError } from './errors.js';
import type { CurveOptions, PortOptions } from './port.js';

/** {@link PortOptions} with all defaults; only a dealer's routing id and CURVE may be absent. */
export type ResolvedPortOptions = Required<Omit<PortOptions, 'routingId' | 'curve'>> &
  Pick<PortOptions, 'routingId' | 'curve'>;

type NumericOption = Exclude<
  keyof PortOptions,
  'handover' | 'tellsPeers' | 'tellsSubscriptions' | 'routingId' | 'curve'
>;

const MIB = 2 ** 20;
/** libzmq stores times and counts in signed 32 bits. */
const INT32_MAX = 2 ** 31 - 1;

interface Range {
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

const RANGES: { readonly [Name in NumericOption]: Range } = {
  lingerMs: { default: 1000, min: 0, max: INT32_MAX },
  maxMessageFrames: { default: 1024, min: 1, max: INT32_MAX },
  maxMessageBytes: { default: 64 * MIB, min: 1, max: Number.MAX_SAFE_INTEGER },
  highWaterMark: { default: 1000, min: 1, max: INT32_MAX },
  receiveHighWaterMark: { default: 1000, min: 1, max: INT32_MAX },
  sendWaitMs: { default: 0, min: 0, max: INT32_MAX },
  peerQueueMax: { default: 1000, min: 0, max: INT32_MAX },
  peerQueueMaxBytes: { default: 64 * MIB, min: 0, max: Number.MAX_SAFE_INTEGER },
  peerReportsMax: { default: INT32_MAX, min: 1, max: INT32_MAX },
  queueMax: { default: 100_000, min: 1, max: INT32_MAX },
  queueMaxBytes: { default: 256 * MIB, min: 1, max: Number.MAX_SAFE_INTEGER },
  connectionHeartbeatMs: { default: 2000, min: 0, max: INT32_MAX },
  connectionTimeoutMs: { default: 6000, min: 1, max: INT32_MAX },
};

/** Fills in the defaults. Throws `OPTIONS_INVALID` with the option, its value and the allowed range. */
export function resolvePortOptions(options: PortOptions = {}): ResolvedPortOptions {
  const number = (name: NumericOption): number => {
    const { default: fallback, min, max } = RANGES[name];
    const value = options[name] ?? fallback;
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new ProjError('OPTIONS_INVALID', `option ${name} = ${value}: must be an integer from ${min} to ${max}`);
  };
  return {
    lingerMs: number('lingerMs'),
    maxMessageFrames: number('maxMessageFrames'),
    maxMessageBytes: number('maxMessageBytes'),
    highWaterMark: number('highWaterMark'),
    receiveHighWaterMark: number(options.receiveHighWaterMark === undefined ? 'highWaterMark' : 'receiveHighWaterMark'),
    sendWaitMs: number('sendWaitMs'),
    peerQueueMax: number('peerQueueMax'),
    peerQueueMaxBytes: number('peerQueueMaxBytes'),
    peerReportsMax: number('peerReportsMax'),
    queueMax: number('queueMax'),
    queueMaxBytes: number('queueMaxBytes'),
    connectionHeartbeatMs: number('connectionHeartbeatMs'),
    connectionTimeoutMs: number('connectionTimeoutMs'),
    handover: options.handover ?? false,
    tellsPeers: options.tellsPeers ?? false,
    tellsSubscriptions: options.tellsSubscriptions ?? false,
    ...(options.routingId === undefined ? {} : { routingId: checkRoutingId(options.routingId) }),
    ...(options.curve === undefined ? {} : { curve: checkCurve(options.curve) }),
  };
}

function checkRoutingId(id: Uint8Array): Uint8Array {
  if (id.byteLength >= 1 && id.byteLength <= 255 && id[0] !== 0) return id;
  const bytes = Array.from(id.subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join('');
  throw new ProjError(
    'OPTIONS_INVALID',
    `option routingId = 0x${bytes} (${id.byteLength} bytes): must be 1 to 255 bytes and not begin with 0x00`,
  );
}

const KEY_BYTES = 32;

function checkCurve(curve: CurveOptions): CurveOptions {
  checkKey('keys.publicKey', curve.keys.publicKey);
  checkKey('keys.secretKey', curve.keys.secretKey);
  if (curve.role === 'client') checkKey('serverKey', curve.serverKey);
  return curve;
}

/** Shows only the length, because secrets do not belong in messages. */
function checkKey(name: string, key: Uint8Array): void {
  if (key.byteLength !== KEY_BYTES)
    throw new ProjError(
      'OPTIONS_INVALID',
      `option curve.${name} of ${key.byteLength} bytes: must be ${KEY_BYTES} bytes`,
    );
}
