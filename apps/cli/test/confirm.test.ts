/** The confirmation before something is lost, at a terminal made of streams. */
import { PassThrough } from 'node:stream';
import { afterEach, expect, it, vi } from 'vitest';
import { confirm } from '../src/confirm.js';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Asks, and types this once the question is shown, or ends the input. */
function ask(keys: string | undefined) {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = Object.assign(new PassThrough(), { isTTY: true });
  output.once('data', () => (keys === undefined ? input.end() : input.write(keys)));
  const reason = new Error('interrupted');
  const stop = new AbortController();
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    stop.abort(reason);
    return true;
  });
  const answer = confirm({ what: 'This removes it.', word: 'orders', stop: stop.signal, input, output });
  return { answer, reason, kill };
}

it('resolves for the word', async () => {
  await expect(ask('orders\r').answer).resolves.toBeUndefined();
});

it.each([
  ['another word', 'order\r'],
  ['Ctrl-D', '\u0004'],
])('refuses %s', async (_, keys) => {
  await expect(ask(keys).answer).rejects.toMatchObject({
    code: 'OPTIONS_INVALID',
    message: 'not confirmed: nothing was done',
  });
});

it('refuses an input that ends without a word', async () => {
  await expect(ask(undefined).answer).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
});

it('turns Ctrl-C into an interrupt of the process, and rejects with its reason', async () => {
  const { answer, reason, kill } = ask('\u0003');
  await expect(answer).rejects.toBe(reason);
  expect(kill).toHaveBeenCalledWith(process.pid, 'SIGINT');
});
