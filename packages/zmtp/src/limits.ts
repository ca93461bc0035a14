/** Limits of a transport: defaults and bounds, shared with programs that have options of the same names. */
import { ProjError } from '@proj/transport';

const INT32_MAX = 2 ** 31 - 1;

/** Bounds of an integer. */
interface Range {
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

/** Options of `ZmtpTransport` that limit what peers may do. `connectionsPerAddressMax` defaults to `connectionsMax`. */
export const ZMTP_LIMITS = {
  connectionsMax: { default: 65_536, min: 1, max: INT32_MAX },
  connectionsPerAddressMax: { default: 65_536, min: 1, max: INT32_MAX },
  handshakesMax: { default: 4096, min: 1, max: INT32_MAX },
  unfinishedMaxBytes: { default: 2 ** 29, min: 1, max: Number.MAX_SAFE_INTEGER },
  unreadMaxBytes: { default: 2 ** 29, min: 1, max: Number.MAX_SAFE_INTEGER },
  subscriptionBytesMax: { default: 2 ** 22, min: 1, max: INT32_MAX },
} satisfies Record<string, Range>;

/** The limits of a transport. */
export type Limits = Readonly<Record<keyof typeof ZMTP_LIMITS, number>>;

/** The limits in these options, checked and with defaults. Throws `OPTIONS_INVALID`. */
export function limitsOf(options: Partial<Record<keyof typeof ZMTP_LIMITS, number>>) {
  const limit = (name: keyof typeof ZMTP_LIMITS, fallback?: number): number =>
    integer(name, options[name], { ...ZMTP_LIMITS[name], ...(fallback === undefined ? {} : { default: fallback }) });
  const connectionsMax = limit('connectionsMax');
  return {
    connectionsMax,
    connectionsPerAddressMax: limit('connectionsPerAddressMax', connectionsMax),
    handshakesMax: limit('handshakesMax'),
    unfinishedMaxBytes: limit('unfinishedMaxBytes'),
    unreadMaxBytes: limit('unreadMaxBytes'),
    subscriptionBytesMax: limit('subscriptionBytesMax'),
  };
}

/** The value of an option, or its default. Throws `OPTIONS_INVALID`. */
export function integer(
  name: string,
  value: number | undefined,
  range: { readonly default: number; readonly min: number; readonly max?: number },
): number {
  const { min, max = INT32_MAX } = range;
  const number = value ?? Math.max(range.default, min);
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  throw new ProjError('OPTIONS_INVALID', `option ${name} = ${number}: must be an integer from ${min} to ${max}`);
}
