/**
 * EventMQ: eMQP/1.0 between frames and commands. `commands.ts` has the words, `wire.ts` the grammar and every fixed byte, `headers.ts` a
 * request's headers, `job.ts` the job that a body names.
 */
export type * from './commands.js';
export * from './decode.js';
export { emqpTime, encodeEmqp } from './encode.js';
export { decodeEmqpHeaders, encodeEmqpHeaders } from './headers.js';
export type { EmqpHeaders, EmqpReadHeaders } from './headers.js';
export { emqpJobText } from './job.js';
export { pythonJson as encodeEmqpJson } from './text.js';
