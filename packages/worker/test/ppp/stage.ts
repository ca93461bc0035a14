/** Paranoid Pirate workers and scripted queues in a world. */
import type { Service } from '@proj/frames/service';
import type { Peer } from '@proj/transport';
import type { PppWorkerOptions } from '../../src/ppp/options.js';
import { PppWorker } from '../../src/ppp/worker.js';
import type { WorkerWorld } from '../world.js';
import { ScriptedQueue } from './scripted-queue.js';

/** What was made on it is closed by {@link Stage.end}. */
export class Stage<W extends WorkerWorld = WorkerWorld> {
  readonly world: W;

  constructor(world: W) {
    this.world = world;
  }

  settle<Value>(promise: Promise<Value>): Promise<Value> {
    return this.world.settle(promise);
  }

  async queue(endpoint = this.world.endpoint()): Promise<ScriptedQueue> {
    return this.world.closeAtEnd(await ScriptedQueue.start(this.world.peerTransport(), endpoint));
  }

  worker<S extends Service | undefined = undefined>(options: PppWorkerOptions<S>): PppWorker<S> {
    return this.world.closeAtEnd(new PppWorker({ transport: this.world.transport, ...options }));
  }

  /** Starts a worker and returns it with its name at the queue, which has got its READY. */
  async join<S extends Service | undefined = undefined>(
    queue: ScriptedQueue,
    options: Omit<PppWorkerOptions<S>, 'endpoints'>,
  ): Promise<{ readonly worker: PppWorker<S>; readonly peer: Peer }> {
    const worker = this.worker<S>({ endpoints: [queue.endpoint], ...options });
    await this.settle(worker.start());
    return { worker, peer: await this.settle(queue.ready()) };
  }

  /** Resolves when the worker has got all that the queue has sent it: a message of no meaning comes last and is noticed. */
  async heard(queue: ScriptedQueue, peer: Peer, worker: Pick<PppWorker, 'on'>): Promise<void> {
    const noticed = new Promise<void>((resolve) => {
      const off = worker.on('note', ({ note }) => {
        if (note.code !== 'message-dropped') return;
        off();
        resolve();
      });
    });
    queue.send(peer, [Uint8Array.of(1)]);
    await this.settle(noticed);
  }

  end(): Promise<void> {
    return this.world.end();
  }
}
