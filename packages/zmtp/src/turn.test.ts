import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { Poller } from './poller.js';
import { ZmtpTransport } from './transport.js';
import { Turns } from './turn.js';

/** Notes what it is told. */
class Noted extends Poller {
  readonly heard: unknown[] = [];

  constructor() {
    super(0, { now: () => 0, next: () => undefined });
  }

  override onTurn(): void {
    this.heard.push('turn');
  }

  override onTurnEnd(count: number): void {
    this.heard.push(count);
  }
}

describe('turns', () => {
  it('tell the poller of each in which something came, and of how many', async () => {
    const poller = new Noted();
    const turns = new Turns(() => 0, poller);
    for (let index = 0; index < 3; index++) turns.isOver(0);
    await setImmediate();
    turns.isOver(0);
    await setImmediate();
    expect(poller.heard).toEqual(['turn', 3, 'turn', 1]);
  });

  it('count those that write, for one chunk may bring something for many', async () => {
    const poller = new Noted();
    const turns = new Turns(() => 0, poller);
    turns.isOver(0);
    const writer = { onWrite: () => undefined, onRead: () => undefined };
    turns.writeLater(writer);
    turns.writeLater(writer);
    await setImmediate();
    expect(poller.heard).toEqual(['turn', 2]);
  });

  it('tell it that others connect to us, once something is bound', async () => {
    const transport = new ZmtpTransport({ pollUs: 0 });
    const serve = vi.spyOn(Poller.prototype, 'serve');
    const [router, dealer] = [transport.router(), transport.dealer()];
    dealer.connect(await router.bind('tcp://127.0.0.1:*'));
    expect(serve).toHaveBeenCalledTimes(1);
    serve.mockRestore();
    await Promise.all([router.close(), dealer.close({ lingerMs: 0 })]);
  });

  it('do not tell it of those in which nothing came', async () => {
    const poller = new Noted();
    const turns = new Turns(() => 0, poller);
    await turns.written();
    await setImmediate();
    expect(poller.heard).toEqual([]);
  });
});
