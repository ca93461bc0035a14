/** Links to views, written and read. */
import { describe, expect, it } from 'vitest';
import { href, keyOf, parseHash, splitKey } from './routes.js';

describe('routes', () => {
  it.each([
    [[], {}],
    [['workers', 'mdp', 'a/b ?#%'], {}],
    [['notes'], { reason: 'bad=1&2', peer: 'ü' }],
  ])('the link to %j with %j leads there', (path, query) => {
    expect(parseHash(href(path, query))).toEqual({ path, query });
  });

  it('a lone surrogate, which no link can hold, becomes U+FFFD', () => {
    expect(href(['a\ud800'], { '\udc00': '\ud800\u{1f600}' })).toBe('#/a%EF%BF%BD?%EF%BF%BD=%EF%BF%BD%F0%9F%98%80');
  });

  it('leaves empty values out of links', () => {
    expect(href(['services'], { q: '', sort: undefined })).toBe('#/services');
  });

  it.each(['', '#', '#/'])('%j is the overview', (hash) => expect(parseHash(hash).path).toEqual([]));

  it('keeps text that cannot be decoded', () =>
    expect(parseHash('#/workers/%E0%A4').path).toEqual(['workers', '%E0%A4']));

  it('reads the links of faults, which have slashes in names', () => {
    expect(keyOf(parseHash('#/services/mdp/a/b').path.slice(1))).toBe('mdp/a/b');
    expect(splitKey('mdp/a/b')).toEqual(['mdp', 'a/b']);
    expect(splitKey('mdp')).toEqual(['mdp', '']);
  });
});
