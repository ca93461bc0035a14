/** Where workers and what they talk to live: a network in memory with a clock that is moved, or real sockets. No protocol. */
import { HAS_LIBZMQ, ownEndpoint } from '@proj/testkit';
import type { Transport } from '@proj/transport';
import { advance, settle, VirtualNetwork } from '@proj/transport/virtual';
import { zmqTransport } from '@proj/transport/zmq';
import { zmtpTransport } from '@proj/zmtp';

/** A world. What is to be closed with it is given to {@link WorkerWorld.closeAtEnd}. */
export abstract class WorkerWorld {
  readonly #ends: (() => Promise<unknown>)[] = [];

  /** The workers' transport. */
  abstract readonly transport: Transport;
  /** A transport for what workers talk to. */
  abstract peerTransport(): Transport;
  /** An endpoint nobody listens at yet. */
  abstract endpoint(): string;
  /** One that a listener can leave and come back to. */
  abstract ownEndpoint(): Promise<string>;
  /** The promise's outcome, with time moving until it is there. */
  abstract settle<Value>(promise: Promise<Value>): Promise<Value>;

  closeAtEnd<Member extends { close(): Promise<unknown> }>(member: Member): Member {
    this.#ends.push(() => member.close());
    return member;
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await this.settle(end());
  }
}

/** Everything runs in `network.clock`; nothing happens without {@link VirtualWorld.settle} or {@link VirtualWorld.advance}. */
export class VirtualWorld extends WorkerWorld {
  readonly network = new VirtualNetwork();
  readonly transport = this.network.transport('worker');
  #endpoints = 0;

  peerTransport(): Transport {
    return this.network.transport();
  }

  endpoint(): string {
    return `tcp://broker${this.#endpoints++}:5555`;
  }

  ownEndpoint(): Promise<string> {
    return Promise.resolve(this.endpoint());
  }

  settle<Value>(promise: Promise<Value>): Promise<Value> {
    return settle(this.network.clock, promise);
  }

  advance(ms: number): Promise<void> {
    return advance(this.network.clock, ms);
  }
}

/** Real sockets on loopback and real time: for stories that wait for messages only. */
export class ZmqWorld extends WorkerWorld {
  /** Libzmq, where there is one. */
  readonly transport = HAS_LIBZMQ ? zmqTransport() : zmtpTransport();

  peerTransport(): Transport {
    return this.transport;
  }

  endpoint(): string {
    return 'tcp://127.0.0.1:*';
  }

  ownEndpoint(): Promise<string> {
    return ownEndpoint();
  }

  settle<Value>(promise: Promise<Value>): Promise<Value> {
    return promise;
  }
}
