// Jobs for tests: a module whose exports may be run.
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
