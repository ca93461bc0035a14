/** Shared vocabulary of all codecs: byte helpers, service names and the value for undecodable input. */
export {
  compact,
  compactAll,
  EMPTY_FRAME,
  equalBytes,
  fromLatin1,
  latin1,
  printable,
  slackOf,
  totalBytes,
} from './bytes.js';
export type { Malformed } from './malformed.js';
export { isServiceName } from './service-name.js';
