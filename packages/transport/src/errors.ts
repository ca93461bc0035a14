/** One error class for everything a user can catch, distinguished by `code`, also across package copies. */

/** What went wrong, as a closed set: match on it instead of messages or classes. */
export type ProjErrorCode =
  // usage
  | 'OPTIONS_INVALID'
  | 'CLOSED'
  // outcome of a request
  | 'TIMEOUT'
  | 'EXPIRED'
  | 'QUEUE_FULL'
  | 'SERVICE_UNKNOWN'
  | 'REJECTED'
  // connection
  | 'PEER_LOST'
  | 'UNREACHABLE'
  | 'ADDRESS_IN_USE'
  | 'UNAVAILABLE'
  // store
  | 'WRITE_FAILED'
  | 'CORRUPT'
  // protocol: we were asked to send something illegal; the peer sent something illegal
  | 'PROTOCOL_LOCAL'
  | 'PROTOCOL_REMOTE'
  // the peer answered, but not the question (417 of NFP)
  | 'UNEXPECTED_ANSWER';

/** The fields of a {@link ProjError} besides code and message. */
export interface ProjErrorOptions {
  readonly cause?: unknown;
  /** Machine-readable details, such as the validation issues of a rejected request. */
  readonly details?: unknown;
}

/** Any failure reported by this project. The message begins with what failed and the offending value. */
export class ProjError extends Error {
  override readonly name = 'ProjError';
  readonly code: ProjErrorCode;
  readonly details: unknown;

  constructor(code: ProjErrorCode, message: string, options: ProjErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.details = options.details;
  }
}

/** True for a {@link ProjError} of any copy of this package, optionally with this code. */
export function isProjError(error: unknown, code?: ProjErrorCode): error is ProjError {
  return (
    error instanceof Error &&
    error.name === 'ProjError' &&
    (code === undefined || (error as { code?: unknown }).code === code)
  );
}
