import { describe, expect, it } from 'vitest';
import { Emitter } from './emitter.js';

interface Events {
  ready: string;
  lost: number;
}

describe('Emitter', () => {
  it('calls the listeners of an event in the order they were added', () => {
    const emitter = new Emitter<Events>();
    const calls: string[] = [];
    emitter.on('ready', (payload) => calls.push(`first ${payload}`));
    emitter.on('ready', (payload) => calls.push(`second ${payload}`));
    emitter.on('lost', () => calls.push('never'));
    emitter.emit('ready', 'now');

    expect(calls).toEqual(['first now', 'second now']);
  });

  it('adds the same listener once', () => {
    const emitter = new Emitter<Events>();
    let calls = 0;
    const listener = (): void => {
      calls++;
    };
    emitter.on('ready', listener);
    emitter.on('ready', listener);
    emitter.emit('ready', '');

    expect(calls).toBe(1);
  });

  it('removes a listener by the function that on returned, also while it emits', () => {
    const emitter = new Emitter<Events>();
    const calls: number[] = [];
    const off = emitter.on('lost', (payload) => {
      calls.push(payload);
      off();
    });
    emitter.emit('lost', 1);
    emitter.emit('lost', 2);
    off();

    expect(calls).toEqual([1]);
  });

  it('knows whether anybody listens', () => {
    const emitter = new Emitter<Events>();
    const off = emitter.on('ready', () => {});

    expect([emitter.has('ready'), emitter.has('lost')]).toEqual([true, false]);
    off();
    expect(emitter.has('ready')).toBe(false);
  });

  it('lets the exception of a listener through', () => {
    const emitter = new Emitter<Events>();
    emitter.on('ready', () => {
      throw new Error('theirs');
    });

    expect(() => {
      emitter.emit('ready', '');
    }).toThrow('theirs');
  });

  it('does nothing for an event nobody listens to', () => {
    expect(() => {
      new Emitter<Events>().emit('lost', 1);
    }).not.toThrow();
  });
});
