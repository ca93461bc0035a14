/** PZQ with peers of two makers, ours and the Python peers: a test chooses the maker of each. */
import { PzqConsumer, PzqProducer } from '@proj/client';
import type { PzqConsumerOptions, PzqProducerOptions } from '@proj/client';
import { PzqServer } from '@proj/pzq';
import type { PzqServerOptions } from '@proj/pzq';
import type { PeerLine, PeerProcess } from '@proj/testkit';
import { testPeers, fromHex, PATIENCE_MS, toHex } from '../test-peers.js';
import type { Body, TestPeers, Flags, Maker } from '../test-peers.js';
import { pythonPeer } from '../python.js';
import { transport } from '../../transport.js';

/** Where a queue listens. */
export interface Ports {
  readonly receive: string;
  readonly send: string;
}

/** A delivery as a Python consumer received it. */
export interface Delivered {
  readonly key: string;
  readonly sent: number;
  readonly timeout: number;
  readonly body: Buffer[];
}

/** A consumer in Python. */
export class PythonConsumer {
  readonly process: PeerProcess;
  #seen = 0;

  constructor(process: PeerProcess) {
    this.process = process;
  }

  /** The next delivery after the last one requested. */
  async delivery(): Promise<Delivered> {
    return deliveryOf(await this.process.line('delivery', {}, ++this.#seen));
  }

  /** Sends frames to the queue, such as a key and a status. */
  say(...frames: (string | Uint8Array)[]): void {
    this.process.tell({ do: 'say', frames: toHex(frames.map((frame) => Buffer.from(frame))) });
  }
}

/** A producer in Python. */
export class PythonProducer {
  readonly process: PeerProcess;

  constructor(process: PeerProcess) {
    this.process = process;
  }

  /** Sends arbitrary frames to the queue. */
  send(...frames: (string | Uint8Array)[]): void {
    this.process.tell({ do: 'send', frames: toHex(frames.map((frame) => Buffer.from(frame))) });
  }

  /** The answers so far, ids in Latin-1, up to the first one for this id. */
  async answersUntil(id: string): Promise<[id: string, reason: string | null][]> {
    await this.process.line('answer', { id: Buffer.from(id).toString('hex') });
    return this.process
      .lines('answer')
      .map((line) => [Buffer.from(line['id'] as string, 'hex').toString('latin1'), line['reason'] as string | null]);
  }
}

/** Starts peers that end with their test. */
export interface Stage extends Pick<TestPeers, 'keep'> {
  /** Our queue, in memory; by default its leases last as long as the test. */
  queue(options?: PzqServerOptions): Promise<Ports & { readonly queue: PzqServer; readonly monitor: string }>;
  producer(options: PzqProducerOptions): PzqProducer;
  consumer(options: PzqConsumerOptions): PzqConsumer;
  pythonQueue(flags?: Flags): Promise<Ports & { readonly queue: PeerProcess }>;
  pythonProducer(connect: string): PythonProducer;
  pythonConsumer(connect: string, job?: 'ack' | 'hold'): PythonConsumer;
  pythonMonitor(connect: string, socket: 'req' | 'dealer'): PeerProcess;
  queueBy(maker: Maker): Promise<Ports>;
  /** Stores bodies in order; resolves when all are acknowledged. */
  storeBy(maker: Maker, receive: string, bodies: readonly Body[]): Promise<void>;
  /** Takes this many bodies and acknowledges each. */
  takeBy(maker: Maker, send: string, count: number): Promise<Buffer[][]>;
}

/** A stage for the tests of the calling file. */
export function stage(): Stage {
  const { launch, keep } = testPeers();
  const self: Stage = {
    keep,
    async queue(options) {
      const free = 'tcp://127.0.0.1:*';
      const defaults = { receive: free, send: free, monitor: free, store: 'memory:', ackTimeoutMs: PATIENCE_MS };
      const queue = keep(new PzqServer({ transport, ...defaults, ...options }));
      const { receive, send, monitor } = await queue.start();
      return { queue, receive: receive[0]!, send: send[0]!, monitor: monitor[0]! };
    },
    producer: (options) => keep(new PzqProducer({ transport, ackTimeoutMs: PATIENCE_MS, ...options })),
    consumer: (options) => keep(new PzqConsumer({ transport, ...options })),
    async pythonQueue(flags = {}) {
      const queue = launch(pythonPeer('pzq', 'queue', flags));
      const { receive, send } = await queue.line('listening');
      return { queue, receive: receive as string, send: send as string };
    },
    pythonProducer: (connect) => new PythonProducer(launch(pythonPeer('pzq', 'producer', { connect }))),
    pythonConsumer: (connect, job) => new PythonConsumer(launch(pythonPeer('pzq', 'consumer', { connect, job }))),
    pythonMonitor: (connect, socket) => launch(pythonPeer('pzq', 'monitor', { connect, socket })),
    queueBy: (maker) => (maker === 'ours' ? self.queue() : self.pythonQueue()),
    async storeBy(maker, receive, bodies) {
      if (maker === 'ours') {
        const producer = self.producer({ endpoints: [receive] });
        await Promise.all(bodies.map((body) => producer.send(body)));
        return;
      }
      const { process } = self.pythonProducer(receive);
      process.tell({ do: 'pipeline', bodies: bodies.map(toHex) });
      await process.line('stored', { count: bodies.length });
    },
    async takeBy(maker, send, count) {
      const taken: Buffer[][] = [];
      if (maker === 'ours') {
        for await (const message of self.consumer({ endpoints: [send] })) {
          taken.push(message.body);
          message.ack();
          if (taken.length === count) break;
        }
        return taken;
      }
      const consumer = self.pythonConsumer(send);
      while (taken.length < count) taken.push((await consumer.delivery()).body);
      return taken;
    },
  };
  return self;
}

function deliveryOf(line: PeerLine): Delivered {
  const { key, sent, timeout, body } = line;
  return { key: key as string, sent: sent as number, timeout: timeout as number, body: fromHex(body) };
}
