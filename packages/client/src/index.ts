/** Clients for ZeroMQ request-reply. Open `mdp/client.ts` or `ppp/client.ts` first. */
export type { BodyInput, Frame } from '@proj/transport';
export { MdpClient } from './mdp/client.js';
export type { MdpClientEvents, MdpServicePresence } from './mdp/client.js';
export type { MdpClientOptions, MdpRequestOptions } from './mdp/options.js';
export { MdpClientSession } from './mdp/session.js';
export type { MdpClientDropReason, MdpClientEffect, MdpClientEvent, MdpClientNote } from './mdp/session.js';
export { LazyPirateClient } from './ppp/client.js';
export type { LazyPirateEvents } from './ppp/client.js';
export type { LazyPirateOptions, LazyPirateRequestOptions } from './ppp/options.js';
export { LazyPirateSession } from './ppp/session.js';
export type {
  LazyPirateDropReason,
  LazyPirateEffect,
  LazyPirateEvent,
  LazyPirateNote,
  LazyPirateRequest,
} from './ppp/session.js';
export type { LaneStats } from './parts/lane-events.js';
export { isProjError, ProjError } from '@proj/transport';
export type { ProjErrorCode } from '@proj/transport';
export type { MmiServiceEntry, MmiWorkerEntry } from '@proj/frames/mdp';
export { defineService } from '@proj/frames/service';
export type { Service, ServiceIssue, ServiceRefusal } from '@proj/frames/service';
