/** Typed services: names, schemas, a codec and an error reply over any protocol whose bodies are frames. */
export { bytesCodec, jsonCodec } from './codec.js';
export type { ServiceCodec, ServiceCodecs } from './codec.js';
export { decodeFault, encodeFault } from './fault.js';
export type { ServiceFault, ServiceIssue, ServiceRefusal } from './fault.js';
export * from './service.js';
export type { SchemaInput, SchemaIssue, SchemaOutput, SchemaResult, StandardSchema } from './standard-schema.js';
