/** `@proj/client/ppp`: the Lazy Pirate client, with its events, counters and engine. */
export { defineService } from '@proj/frames/service';
export type { Service, ServiceIssue, ServiceRefusal } from '@proj/frames/service';
export type { BodyInput, Frame } from '@proj/transport';
export type { RequestStats } from '../shared/events.js';
export { LazyPirateClient } from './client.js';
export type { LazyPirateEvents } from './client.js';
export * from './engine/session.js';
export type { LazyPirateOptions, LazyPirateRequestOptions } from './options.js';
