/** NFP clients, and a scripted broker for them: a ROUTER, and functions that answer. */
import { decodeNfpAtBroker, encodeNfp, encodeNfpJson } from '@proj/frames/nfp';
import type { NfpAnswer, NfpClientCall, NfpClientOpen, NfpHeader } from '@proj/frames/nfp';
import type { Peer, SocketPort, Transport } from '@proj/transport';
import { NfpClient } from '../../src/nfp/client.js';
import type { NfpClientOptions } from '../../src/nfp/options.js';
import { ScriptedServer } from '../scripted-server.js';
import { A, ClientWorld } from '../world.js';

/** One call as the broker sees it. */
export class Asked {
  readonly peer: Peer;
  readonly command: NfpClientCall | NfpClientOpen;
  readonly #port: SocketPort;
  readonly #header: NfpHeader;

  constructor(port: SocketPort, peer: Peer, frames: readonly Uint8Array[], header: NfpHeader) {
    const command = decodeNfpAtBroker(frames);
    if (command.kind !== 'client-call' && command.kind !== 'client-open')
      throw new Error(`a client sent ${command.kind}`);
    this.#port = port;
    this.#header = header;
    this.peer = peer;
    this.command = command;
  }

  get call(): NfpClientCall {
    if (this.command.kind === 'client-open') throw new Error('no call but OPEN');
    return this.command;
  }

  /** The command, or `open`. */
  get kind(): string {
    return this.command.kind === 'client-open' ? 'open' : this.command.command;
  }

  /** What the body says. */
  get body(): { readonly [key: string]: unknown } {
    return JSON.parse(Buffer.from(this.command.body[0]!).toString()) as { [key: string]: unknown };
  }

  answer(status: number, value: unknown, command: NfpAnswer = 'response'): void {
    const body = value instanceof Uint8Array ? [value] : encodeNfpJson(value);
    const { service, uuid, form } = this.call;
    const header = this.#header;
    this.#port.send(
      this.peer,
      encodeNfp({ kind: 'client-answer', form, header, command, service, uuid, status, body }),
    );
  }

  /** 202 of the broker. */
  dispatch(...workers: readonly string[]): void {
    const { uuid, target, service } = this.call;
    this.answer(202, { workers, uuid, target, status: 'DISPATCHED', service });
  }

  /** 400 of the broker. */
  refuse(...errors: readonly string[]): void {
    const { uuid, target, service } = this.call;
    this.answer(400, { workers: null, uuid, target, status: 'FAILED', service, errors });
  }

  /** What a worker says of itself: acceptance, 300, 404. */
  say(worker: string, status: number, word: string, more: object = {}): void {
    const { uuid, service } = this.call;
    this.answer(status, { worker, uuid, status: word, service, ...more });
  }

  /** A result. */
  result(worker: string, result: unknown, more: object = {}): void {
    const { uuid } = this.call;
    this.answer(200, { [worker]: { result, failed: false, errors: [], task: 't', juuid: uuid, ...more } });
  }

  event(worker: string, message: string, more: object = {}): void {
    const { uuid, service } = this.call;
    const value = { worker, service, uuid, message, status: message, severity: 'INFO', ...more };
    this.answer(200, value, 'event');
  }

  stream(chunk: Uint8Array): void {
    this.answer(200, chunk, 'stream');
  }

  open(): void {
    const { form } = this.command;
    this.#port.send(this.peer, encodeNfp({ kind: 'broker-open', form, header: 'NFPB01', body: encodeNfpJson({}) }));
  }

  raw(...frames: readonly Uint8Array[]): void {
    this.#port.send(this.peer, frames);
  }
}

/** A broker with these workers, which accept a job and have done it when asked. */
export const doing =
  (...workers: readonly string[]) =>
  (asked: Asked): void => {
    const { target } = asked.call;
    const named = target.startsWith('[') ? (JSON.parse(target) as string[]) : workers;
    asked.dispatch(...named);
    for (const worker of named)
      if (asked.kind === 'post') asked.say(worker, 201, 'ACCEPTED');
      else if (asked.kind === 'get') asked.result(worker, `done by ${worker}`);
      else asked.say(worker, 200, 'DELETED');
  };

/** Answers nothing. */
export const silence = (): void => {};

export class ScriptedBroker extends ScriptedServer<Asked> {
  readonly #header: NfpHeader;

  private constructor(answer: (asked: Asked) => void, header: NfpHeader) {
    super(answer);
    this.#header = header;
  }

  static start(
    transport: Transport,
    endpoint: string,
    answer: (asked: Asked) => void,
    header: NfpHeader = 'NFPB01',
  ): Promise<ScriptedBroker> {
    // It answers whatever it is asked at once.
    return new ScriptedBroker(answer, header).listen(transport, endpoint, { peerQueueMax: 100_000, handover: true });
  }

  /** What came, as `command target`. */
  get heard(): string[] {
    return this.asked.map(({ kind, command }) => (command.kind === 'client-open' ? kind : `${kind} ${command.target}`));
  }

  protected read(port: SocketPort, peer: Peer, frames: Uint8Array[]): Asked {
    return new Asked(port, peer, frames, this.#header);
  }
}

/** The world with a broker in it. */
export class Stage extends ClientWorld {
  broker(
    answer: (asked: Asked) => void = doing('w1'),
    endpoint = A,
    process = endpoint,
    header: NfpHeader = 'NFPB01',
  ): Promise<ScriptedBroker> {
    return ScriptedBroker.start(this.network.transport(process), endpoint, answer, header);
  }

  client(options: NfpClientOptions = {}): NfpClient {
    return new NfpClient({ endpoints: [A], transport: this.transport, ...options });
  }
}
