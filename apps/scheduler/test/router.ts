/** An EventMQ broker for one scheduler, written from the specification: it acknowledges, schedules, and counts requests. */
import { randomUUID } from 'node:crypto';
import { Router } from 'zeromq';

export class FakeRouter {
  readonly endpoint: string;
  /** Bodies of REQUESTs, in order. */
  readonly requests: string[] = [];
  /** Headers of REQUESTs, in order. */
  readonly headers: string[] = [];
  /** Other commands, in order. */
  readonly words: string[] = [];
  readonly #socket: Router;
  #scheduler: Buffer | undefined;
  #waiting: (() => void)[] = [];

  private constructor(socket: Router, endpoint: string) {
    this.#socket = socket;
    this.endpoint = endpoint;
    void this.#serve();
  }

  static async bind(): Promise<FakeRouter> {
    const socket = new Router({ linger: 0, sendHighWaterMark: 0, receiveHighWaterMark: 0 });
    await socket.bind('tcp://127.0.0.1:*');
    return new FakeRouter(socket, socket.lastEndpoint ?? '');
  }

  /** Tells the scheduler to run a job. */
  async schedule(body: string, interval: number, headers: string): Promise<void> {
    await this.#say('SCHEDULE', 'queue', headers, interval.toString(), body, '');
  }

  async disconnect(): Promise<void> {
    await this.#say('DISCONNECT');
  }

  /** Resolves when the condition holds; it is checked after each message. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  close(): void {
    this.#socket.close();
  }

  async #say(word: string, ...frames: readonly string[]): Promise<void> {
    if (this.#scheduler === undefined) throw new Error('no scheduler is connected');
    await this.#socket.send([this.#scheduler, '', 'eMQP/1.0', word, randomUUID(), ...frames]);
  }

  async #serve(): Promise<void> {
    for await (const frames of this.#socket) {
      const [id, , , word = '', message = '', ...rest] = frames;
      const text = word.toString();
      if (text === 'REQUEST') {
        this.requests.push(String(rest[2]));
        this.headers.push(String(rest[1]));
      } else this.words.push(text);
      if (text === 'INFORM') {
        this.#scheduler = id;
        await this.#say('ACK', message.toString());
      }
      for (const wake of this.#waiting.splice(0)) wake();
    }
  }
}
