/** Shared by the cases with sockets: they are closed afterwards, and their listeners can be waited for. */
import type { Transport } from '../port.js';

/** What all cases with sockets need from an implementation. */
export interface SocketSubject {
  /** The transport of one process. May return the same one each time, or a new one on the same network. */
  transport(): Transport;
  /** An endpoint for binding, with a wildcard port. */
  readonly endpoint: string;
  /**
   * An endpoint that stays free between two listeners. Needed if a wildcard port may be reassigned the moment it is free; without it, {@link
   * SocketSubject.endpoint} is bound, and the resulting endpoint is bound again.
   */
  readonly ownEndpoint?: () => Promise<string>;
}

interface Waiter {
  readonly condition: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** A listener whose calls can be waited for. */
export class TestListener {
  #waiters: Waiter[] = [];

  onBroken(error: Error): void {
    for (const waiter of this.#waiters) waiter.reject(error);
  }

  /** Resolves once the condition holds; checked after each call of the port. The test runner has the time limits. */
  until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ condition, resolve, reject });
    });
  }

  /** Checks what is waited for. */
  protected wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) {
      if (waiter.condition()) waiter.resolve();
      else this.#waiters.push(waiter);
    }
  }
}

/** The sockets of one case. */
export class SocketRig<Subject extends SocketSubject = SocketSubject> {
  readonly subject: Subject;
  readonly #ports: { close(): Promise<void> }[] = [];
  /** The transport whose time passes. */
  #passing: Promise<Transport> | undefined;

  constructor(subject: Subject) {
    this.subject = subject;
  }

  /** An endpoint that will be bound again. */
  ownEndpoint(): Promise<string> {
    return this.subject.ownEndpoint?.() ?? Promise.resolve(this.subject.endpoint);
  }

  /** Lets this much of the transport's time pass. */
  async pass(ms: number): Promise<void> {
    const { clock } = await (this.#passing ??= this.transport());
    await new Promise<void>((resolve) => {
      clock.at(clock.now() + ms, resolve);
    });
  }

  /** Repeats an action every few milliseconds until the condition holds, for what a transport does in its own time. */
  async repeat(action: () => void, condition: () => boolean): Promise<void> {
    while (!condition()) {
      action();
      await this.pass(5);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#ports.map((port) => port.close()));
  }

  /** The transport, loaded. */
  protected async transport(): Promise<Transport> {
    const transport = this.subject.transport();
    await transport.load();
    return transport;
  }

  /** Closes the port with the rig. */
  protected keep<Port extends { close(): Promise<void> }>(port: Port): Port {
    this.#ports.push(port);
    return port;
  }
}
