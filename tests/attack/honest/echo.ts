/** Clients of the ruler: one line there and back. */
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { check } from './probe.js';
import type { Honest } from './probe.js';

/** The clients of a ruler at this port. */
export function echo(port: number): Honest {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  const waiting: ((line: string) => void)[] = [];
  createInterface(socket).on('line', (line) => waiting.shift()?.(line));
  return {
    start: () => Promise.resolve(),
    async ask(text) {
      const came = new Promise<string>((resolve) => waiting.push(resolve));
      socket.write(`${text}\n`);
      check(text, await came);
    },
    losses: () => 0,
  };
}
