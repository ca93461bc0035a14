/** `@proj/client/mdp`: the Majordomo client, with its events, counters and engine. */
export type { MmiServiceEntry, MmiWorkerEntry } from '@proj/frames/mdp';
export { defineService } from '@proj/frames/service';
export type { Service, ServiceIssue, ServiceRefusal } from '@proj/frames/service';
export type { BodyInput, Frame } from '@proj/transport';
export type { RequestStats } from '../shared/events.js';
export { MdpClient } from './client.js';
export type { MdpClientEvents, MdpServicePresence } from './client.js';
export * from './engine/session.js';
export type { MdpClientOptions, MdpRequestOptions } from './options.js';
