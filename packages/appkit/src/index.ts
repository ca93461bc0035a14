/** What every program of this repository shares. Private: bundled into the programs, never published. */
export { accessOption, followAccess } from './access.js';
export { ChildProgram } from './child.js';
export type { Exit, LogRecord } from './child.js';
export { readings } from './decoders.js';
export { followedKeys, processCurve, processServerCurve, writeKeyPair } from './encryption.js';
export {
  bindEndpoint,
  bytes,
  bindEndpoints,
  connectEndpoints,
  endpointFromSchema,
  fieldsOf,
  fromSchema,
  milliseconds,
  oneOf,
  onOff,
  serviceNames,
  someOf,
  text,
  usual,
  weightedQueues,
  wholeNumber,
  withinADay,
  withinSchema,
  wordFromSchema,
} from './fields.js';
export type { Field } from './fields.js';
export { hubOptions, hubTransport } from './hub.js';
export { httpOptions } from './http.js';
export type { ShownServer } from './http.js';
export { logOfPeer } from './peer-log.js';
export type { Logger } from './logging.js';
export { every } from './periodic.js';
export { printable } from './printable.js';
export { defineCommand } from './program.js';
export type { Command, Context, Program } from './program.js';
export { runProgram, runServer, withSharedOptions } from './run.js';
export { digestService, textStatsService } from './sample-services.js';
export { serveUntilEnded } from './serve.js';
export { untilStopped } from './signals.js';
export { processTransport, transportOption, unansweredTransport } from './transport.js';
export { formatTable } from './table.js';
export type { Column } from './table.js';
export { traced } from './trace.js';
export { WatchedRecords } from './watched-records.js';
