/** Majordomo workers and scripted brokers in a world. */
import type { MdpWorkerReady } from '@proj/frames/mdp';
import type { Service } from '@proj/frames/service';
import type { MdpWorkerOptions } from '../../src/mdp/options.js';
import { MdpWorker } from '../../src/mdp/worker.js';
import type { Said } from '../scripted-peer.js';
import type { WorkerWorld } from '../world.js';
import { ScriptedBroker } from './scripted-broker.js';

/** What was made on it is closed by {@link Stage.end}. */
export class Stage<W extends WorkerWorld = WorkerWorld> {
  readonly world: W;

  constructor(world: W) {
    this.world = world;
  }

  settle<Value>(promise: Promise<Value>): Promise<Value> {
    return this.world.settle(promise);
  }

  async broker(endpoint = this.world.endpoint()): Promise<ScriptedBroker> {
    return this.world.closeAtEnd(await ScriptedBroker.start(this.world.peerTransport(), endpoint));
  }

  worker<S extends string | Service>(options: MdpWorkerOptions<S>): MdpWorker<S> {
    return this.world.closeAtEnd(new MdpWorker({ transport: this.world.transport, ...options }));
  }

  /** Starts a worker and returns its READY as the broker saw it. */
  async join<S extends string | Service>(
    broker: ScriptedBroker,
    options: Omit<MdpWorkerOptions<S>, 'endpoints'>,
  ): Promise<Said<MdpWorkerReady> & { readonly worker: MdpWorker<S> }> {
    const worker = this.worker<S>({ endpoints: [broker.endpoint], ...options });
    await this.settle(worker.start());
    return { worker, ...(await this.settle(broker.next('worker-ready'))) };
  }

  end(): Promise<void> {
    return this.world.end();
  }
}
