/** A handler whose end is in the test's hands. */
import type { HandlerContext } from '@proj/transport/service';

/** One call of the handler. */
export interface HeldCall<Request> {
  readonly request: Request;
  readonly context: HandlerContext;
  reply(text: string): void;
}

/** Calls of the handler in their order, none of which ends by itself. */
export class HeldCalls<Request> {
  readonly calls: HeldCall<Request>[] = [];
  readonly #waiting: (() => void)[] = [];

  readonly handler = (request: Request, context: HandlerContext): Promise<string> =>
    new Promise((reply) => {
      this.calls.push({ request, context, reply });
      for (const wake of this.#waiting.splice(0)) wake();
    });

  /** Resolves when so many requests have come. */
  async called(count: number): Promise<void> {
    while (this.calls.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
