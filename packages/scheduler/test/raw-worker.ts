/** A job manager that speaks in frames: it takes one job, and answers it when a test says so. */
import { fromLatin1, latin1 } from '@proj/frames';
import { ROUTER_PEER, type SocketPort, type Transport } from '@proj/transport';

const RESULT = '{"value": 1}';

export class RawWorker {
  readonly #port: SocketPort;
  #job = '';
  #messages = 0;

  /** Connects; the transport must be loaded. */
  constructor(transport: Transport, endpoint: string) {
    this.#port = transport.dealer({ lingerMs: 0 });
    this.#port.connect(endpoint);
    this.#port.start({
      onMessage: (_peer, frames) => {
        const [, , command, id = ''] = frames.map(latin1);
        if (command === 'REQUEST') this.#job = id;
        else if (command === 'HEARTBEAT') this.#say('HEARTBEAT', '0');
      },
      onPeerGone: () => undefined,
      onUndeliverable: () => undefined,
      onRejected: () => undefined,
      onBroken: () => undefined,
    });
  }

  /** Offers one slot for jobs of this queue. */
  inform(queue: string): void {
    this.#say('INFORM', JSON.stringify([[10, queue]]), 'worker');
    this.#say('READY');
  }

  /** Answers the job that it has. */
  answer(): void {
    this.#say('REPLY', RESULT, this.#job);
  }

  close(): Promise<void> {
    return this.#port.close();
  }

  #say(command: string, ...frames: string[]): void {
    const id = `w${++this.#messages}`;
    this.#port.send(ROUTER_PEER, ['', 'eMQP/1.0', command, id, ...frames].map(fromLatin1));
  }
}
