/** The state of servers, for Prometheus, people and programs. The HTTP side is `@proj/observe/http`. */
export * from './collect.js';
export * from './observe.js';
export type { Note } from './notes.js';
export type { DeadLetter, Detailed, ObservedServer, ServerActions } from './server.js';
