/** Calls of this process at a pool, the facade's half: ids, the callers' signals, and the waiting callers. Knows no protocol. */
import { ProjError } from '@proj/transport';
import type { Transport } from '@proj/transport';

/** A pool's host, as its calls use it. */
interface CallHost {
  readonly transport: Transport | undefined;
  dispatch(event: { readonly kind: 'abort'; readonly id: number }): void;
}

interface Pending<Call> {
  readonly call: Call;
  readonly unsubscribe: () => void;
}

/** The open calls of one pool. */
export class PoolCalls<Call extends { readonly outcome: { fail(error: unknown): void } }> {
  readonly #facade: string;
  readonly #host: CallHost;
  readonly #pending = new Map<number, Pending<Call>>();
  #nextId: number | undefined;

  constructor(facade: string, host: CallHost) {
    this.#facade = facade;
    this.#host = host;
  }

  /** Opens a call and returns its id; aborted by the signal, it fails with the signal's reason. Throws `CLOSED` while the pool is not running. */
  open(call: Call, signal: AbortSignal | undefined): number {
    const { transport } = this.#host;
    if (transport === undefined) throw new ProjError('CLOSED', `${this.#facade}: request while not started`);
    // Rule 2 of either pool: ids begin at the wall clock's microseconds, so that a restarted pool reuses none.
    const id = this.#nextId ?? transport.entropy.wallMicros();
    this.#nextId = id + 1;
    const abort = () => {
      this.abort(id)?.outcome.fail(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    this.#pending.set(id, { call, unsubscribe: () => signal?.removeEventListener('abort', abort) });
    return id;
  }

  find(id: number): Call | undefined {
    return this.#pending.get(id)?.call;
  }

  /** Ends the call and returns it, so that its caller can be answered; `undefined` if it has already ended. */
  take(id: number): Call | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.unsubscribe();
    return pending?.call;
  }

  /** As `take`, and tells the engine that nobody is waiting any more. */
  abort(id: number): Call | undefined {
    const call = this.take(id);
    if (call !== undefined) this.#host.dispatch({ kind: 'abort', id });
    return call;
  }

  failAll(errorOf: (call: Call) => ProjError): void {
    for (const id of this.#pending.keys()) {
      const call = this.take(id);
      call?.outcome.fail(errorOf(call));
    }
  }
}
