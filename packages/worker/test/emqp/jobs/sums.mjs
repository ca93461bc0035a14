// Jobs for tests: a module whose exports may be run.
import { parentPort } from 'node:worker_threads';

export const add = (a, b) => a + b;
export const given = (...args) => args;
export const nothing = () => undefined;
export const none = () => null;
export const waits = async (value) => Promise.resolve(value);
export const numbers = 5;
export function fails(text) {
  throw new Error(text);
}
export function throwsOdd() {
  throw Object.create(null);
}
export const unprintable = () => 10n;
export const noJson = () => () => 1;
/** So many lists, one in the other. */
export const nested = (depth) => (depth === 0 ? [] : JSON.parse('['.repeat(depth) + ']'.repeat(depth)));
export const long = (length) => 'x'.repeat(length);
export function failsLong(length) {
  throw new Error(long(length));
}
/** Speaks on the channel that its process has to the job manager, as some libraries do wherever there is one. */
export const speaks = (words) => {
  for (const word of words) (process.send?.bind(process) ?? parentPort.postMessage.bind(parentPort))(word);
  return 'spoken';
};
export const die = (code) => process.exit(code);
export const pid = () => process.pid;

class Base {
  inherited() {
    return 'inherited';
  }
}

export class Greeter extends Base {
  constructor(name, { punct = '.' } = {}) {
    super();
    this.name = name;
    this.punct = punct;
  }

  hi({ greeting = 'hi' } = {}) {
    return `${greeting} ${this.name}${this.punct}`;
  }

  get secret() {
    return () => 'secret';
  }
}
