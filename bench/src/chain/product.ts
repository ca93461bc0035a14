/**
 * What a request-reply product needs for a chain of client, server and worker: the two ends, as its users would write them.
 */
import type { Role } from './process.js';

/** A client in its process. */
export interface ChainClient {
  /** One request; resolves when the reply is there. */
  request(body: Buffer): Promise<unknown>;
  close(): Promise<void>;
}

/** A worker in its process: echoes until it is closed. */
export interface ChainWorker {
  close(): Promise<void>;
}

/** The two ends of one product, connected to its server. */
export interface Product {
  client(endpoint: string): Promise<ChainClient>;
  worker(endpoint: string): Promise<ChainWorker>;
}

/** What an end gets on its command line, as JSON. */
export interface EndPlan {
  readonly product: string;
  readonly role: Role;
  readonly endpoint: string;
  readonly bodyBytes: number;
}
