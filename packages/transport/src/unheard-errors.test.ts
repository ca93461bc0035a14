import { ManualClock } from '@proj/heartbeat';
import { describe, expect, it, vi } from 'vitest';
import { UnheardErrors } from './unheard-errors.js';

function unheard() {
  const clock = new ManualClock();
  const lines: string[] = [];
  return { clock, lines, errors: new UnheardErrors('MdpWorker "echo"', { clock, write: (line) => lines.push(line) }) };
}

describe('errors that nobody listens for', () => {
  it('are printed with their owner and their stack', () => {
    const { lines, errors } = unheard();
    errors.tell(new Error('broken'));
    expect(lines[0]).toMatch(/^MdpWorker "echo": error without a listener: Error: broken\n +at .*unheard-errors/);
  });

  it('are printed once a minute, with the number that was not printed', () => {
    const { clock, lines, errors } = unheard();
    for (let count = 0; count < 5; count++) errors.tell('a');
    clock.advance(59_999);
    errors.tell('b');
    expect(lines.length).toBe(1);
    clock.advance(1);
    errors.tell('c');
    expect(lines[1]).toBe('MdpWorker "echo": error without a listener (and 5 before it): c');
  });

  it('may be anything', () => {
    const { clock, lines, errors } = unheard();
    for (const thrown of [undefined, null, Object.create(null) as unknown, Symbol('s')]) {
      errors.tell(thrown);
      clock.advance(60_000);
    }
    expect(lines.map((line) => line.split(': ').at(-1))).toEqual([
      'undefined',
      'null',
      'a value that cannot be converted to text',
      'Symbol(s)',
    ]);
  });

  it('go to standard error', () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    new UnheardErrors('x').tell('y');
    expect(error).toHaveBeenCalledWith('x: error without a listener: y');
    error.mockRestore();
  });
});
