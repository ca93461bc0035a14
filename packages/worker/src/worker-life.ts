/** The parts that every worker's facade shares: listeners, errors without a listener, one start and one end. */
import { Emitter, ProjError, UnheardErrors } from '@proj/transport';
import type { Transport } from '@proj/transport';
import { loadTransport } from '@proj/zmtp';

type Begin = (transport: Transport) => Promise<void>;

/** One life cycle, from construction to the end. `Events` are the facade's. */
export class WorkerLife<Events extends { readonly error: { readonly error: unknown } }> {
  readonly #name: string;
  readonly #events = new Emitter<Events>();
  readonly #unheard: UnheardErrors;
  #starting: Promise<void> | undefined;
  #isEnding = false;

  /** `name` begins error messages. */
  constructor(name: string) {
    this.#name = name;
    this.#unheard = new UnheardErrors(name);
  }

  /** Loads the transport, with CURVE if the worker uses it, and begins with it. Once: further calls get the first one's outcome. */
  start(given: Transport | undefined, curve: object | undefined, begin: Begin): Promise<void> {
    return (this.#starting ??= this.#start(given, curve, begin));
  }

  /** From now on a start rejects with `CLOSED`, even one already under way. */
  end(): void {
    this.#isEnding = true;
  }

  /** Resolves when a start under way has succeeded or failed. */
  async settled(): Promise<void> {
    await this.#starting?.catch(() => undefined);
  }

  assertOpen(): void {
    if (this.#isEnding) throw new ProjError('CLOSED', `${this.#name}: it was closed`);
  }

  on<Name extends keyof Events>(name: Name, listener: (payload: Events[Name]) => void): () => void {
    return this.#events.on(name, listener);
  }

  emit<Name extends keyof Events>(name: Name, payload: Events[Name]): void {
    this.#events.emit(name, payload);
  }

  /** Emits `error`, or writes it to standard error if there is no listener. */
  fail(payload: Events['error']): void {
    if (this.#events.has('error')) this.#events.emit('error', payload);
    else this.#unheard.tell(payload.error);
  }

  async #start(given: Transport | undefined, curve: object | undefined, begin: Begin): Promise<void> {
    this.assertOpen();
    const transport = await loadTransport(given, curve);
    this.assertOpen();
    await begin(transport);
  }
}
