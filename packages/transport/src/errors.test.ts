import { describe, expect, it } from 'vitest';
import { isProjError, ProjError } from './errors.js';

describe('ProjError', () => {
  it('carries code, message, cause and details', () => {
    const cause = new Error('below');
    const error = new ProjError('TIMEOUT', 'service echo: no reply', { cause, details: { tries: 3 } });

    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'ProjError', code: 'TIMEOUT', message: 'service echo: no reply' });
    expect([error.cause, error.details]).toEqual([cause, { tries: 3 }]);
  });

  it('has no cause when none was given', () => {
    const error = new ProjError('CLOSED', 'broker: closed');

    expect('cause' in error).toBe(false);
    expect(error.details).toBeUndefined();
  });

  it('names itself and its message in the stack', () => {
    expect(String(new ProjError('CLOSED', 'broker: closed'))).toBe('ProjError: broker: closed');
  });
});

describe('isProjError', () => {
  const error = new ProjError('EXPIRED', 'x');
  // As another copy of this package would make it.
  const foreign = Object.assign(new Error('x'), { name: 'ProjError', code: 'EXPIRED' });

  it.each<[string, unknown, boolean]>([
    ['an error of this copy', error, true],
    ['an error of another copy', foreign, true],
    ['another error', new Error('x'), false],
    ['an object that looks like one', { name: 'ProjError', code: 'EXPIRED', message: 'x' }, false],
    ['undefined', undefined, false],
    ['null', null, false],
  ])('of %s', (_, value, expected) => {
    expect(isProjError(value)).toBe(expected);
  });

  it('compares the code when one is given', () => {
    expect([isProjError(error, 'EXPIRED'), isProjError(error, 'CLOSED'), isProjError(foreign, 'EXPIRED')]).toEqual([
      true,
      false,
      true,
    ]);
  });
});
