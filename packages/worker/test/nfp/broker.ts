/** A broker that says what the test says, for one client, and keeps what it hears; as a service of its own it answers what the test has prepared. */
import { fromLatin1, latin1 } from '@proj/frames';
import type { Peer, SocketPort } from '@proj/transport';
import type { WorkerWorld } from '../world.js';

export const POST = '0x04';
export const GET = '0x06';
export const DELETE = '0x07';
export const PUT = '0x10';
const NAMES: Readonly<Record<string, string>> = {
  '0x05': 'response',
  '0x08': 'event',
  '0x09': 'stream',
  '0x11': 'mmi',
};

/** What a worker says about a job. */
export interface Said {
  readonly kind: string;
  readonly uuid: string;
  readonly status: number;
  readonly text: string;
}

/** A question of the worker to a service of the broker. */
export interface Question {
  readonly command: string;
  readonly service: string;
  readonly uuid: string;
  readonly task: string;
  readonly kwargs: Readonly<Record<string, unknown>>;
  /** Of a PUT. */
  readonly offset?: number | undefined;
}

/** What the broker answers: 200 with this, or a status and this; or a STREAM. */
export type Reply = string | { readonly status: number; readonly text: string } | { readonly stream: string };

/** See above. */
export class Broker {
  readonly endpoint: string;
  /** Commands that are no answers. */
  readonly commands: string[] = [];
  readonly said: Said[] = [];
  /** What the worker has asked, in order. */
  readonly questions: Question[] = [];
  /** What to answer; what it returns nothing for is not answered. */
  reply: (question: Question) => Reply | undefined = () => undefined;
  readonly #world: WorkerWorld;
  readonly #port: SocketPort;
  readonly #waiting = new Set<() => void>();
  #worker: Peer | undefined;

  constructor(world: WorkerWorld, endpoint = world.endpoint()) {
    this.#world = world;
    this.endpoint = endpoint;
    this.#port = world.peerTransport().router({ lingerMs: 0, handover: true });
  }

  async start(): Promise<void> {
    await this.#port.bind(this.endpoint);
    this.#port.start({
      onMessage: (peer, frames) => {
        this.#worker = peer;
        this.#hear(frames.map(latin1));
      },
      onPeerGone: () => {},
      onUndeliverable: () => {},
      onRejected: () => {},
      onBroken: () => {},
    });
  }

  close(): Promise<void> {
    return this.#port.close();
  }

  send(command: string, uuid: string, body: object | string = {}): void {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    this.#port.send(this.#worker!, ['', 'NFPB01', command, 'c1', '', uuid, text].map(fromLatin1));
  }

  post(uuid: string, task: string, more: object = {}): void {
    this.send(POST, uuid, { task, ...more });
  }

  /** Resolves to the first thing said that fits. */
  hears(kind: string, fits: (said: Said) => boolean = () => true): Promise<Said> {
    return this.#world.settle(this.#until(() => this.said.find((one) => one.kind === kind && fits(one))));
  }

  /** Resolves with the next READY. */
  hearsReady(): Promise<unknown> {
    const before = this.#readies();
    return this.#world.settle(this.#until(() => (this.#readies() > before ? true : undefined)));
  }

  /** Resolves when the worker has said DISCONNECT. */
  hearsDisconnect(): Promise<unknown> {
    return this.#world.settle(this.#until(() => (this.commands.includes('0x03') ? true : undefined)));
  }

  #readies(): number {
    return this.commands.filter((command) => command === '0x01').length;
  }

  /** The result of a job, once it has completed. */
  async result(uuid: string): Promise<Record<string, unknown>> {
    await this.hears('event', (said) => said.uuid === uuid && said.text.includes('"message":"completed"'));
    this.send(GET, uuid);
    const { text } = await this.hears('response', (said) => said.uuid === uuid && said.text.startsWith('{"math-1"'));
    return (JSON.parse(text) as Record<string, Record<string, unknown>>)['math-1']!;
  }

  /** Answers a question. */
  answer({ command, service, uuid }: Question, reply: Reply): void {
    const isStream = typeof reply === 'object' && 'stream' in reply;
    const said = isStream ? reply.stream : reply;
    const { status, text } = typeof said === 'string' ? { status: 200, text: said } : said;
    const names = isStream ? ['0x09'] : command === '0x11' ? ['0x05', '0x11'] : ['0x05'];
    for (const name of names)
      this.#port.send(this.#worker!, ['', 'NFPB01', name, service, uuid, String(status), text].map(fromLatin1));
  }

  /** Resolves when the worker has asked so much. */
  hearsQuestions(count: number): Promise<unknown> {
    return this.#world.settle(this.#until(() => (this.questions.length >= count ? true : undefined)));
  }

  #hear(frames: string[]): void {
    const [, header, command = '', service = '', , uuid = '', status = '', text = ''] = frames;
    const kind = NAMES[command];
    if (header === 'NFPC01') {
      // Behind the uuid of a call comes its body.
      const { task, kwargs, offset } = JSON.parse(status) as Pick<Question, 'task' | 'kwargs' | 'offset'>;
      const question = { command, service, uuid, task, kwargs, offset };
      this.questions.push(question);
      const reply = this.reply(question);
      if (reply !== undefined) this.answer(question, reply);
    } else if (kind === undefined) this.commands.push(command);
    else this.said.push({ kind, uuid, status: Number(status), text });
    for (const look of this.#waiting) look();
  }

  #until<Value>(find: () => Value | undefined): Promise<Value> {
    return new Promise((resolve) => {
      const look = (): void => {
        const value = find();
        if (value === undefined) return;
        this.#waiting.delete(look);
        resolve(value);
      };
      this.#waiting.add(look);
      look();
    });
  }
}
