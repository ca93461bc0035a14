import { describe, expect, it } from 'vitest';
import { Endpoints } from './endpoints.js';

describe('Endpoints', () => {
  it('starts with the first of the list and wraps round', () => {
    const endpoints = new Endpoints(['a', 'b']);
    expect([endpoints.first, endpoints.after(0), endpoints.after(1)]).toEqual([0, 1, 0]);
    expect(endpoints.namesFrom(1, 3)).toEqual(['b', 'a', 'b']);
  });

  it('rule 6: tries the endpoint that answered last first', () => {
    const endpoints = new Endpoints(['a', 'b', 'c']);
    endpoints.answered(2, 10);
    expect(endpoints.first).toBe(2);
  });

  it('moves on from an endpoint that has answered no call since the request was sent', () => {
    const endpoints = new Endpoints(['a', 'b']);
    endpoints.answered(0, 10);
    endpoints.silent(0, 20);
    expect(endpoints.first).toBe(1);
  });

  it('stays with an endpoint that answered another call meanwhile', () => {
    const endpoints = new Endpoints(['a', 'b']);
    endpoints.answered(0, 30);
    endpoints.silent(0, 20);
    expect(endpoints.first).toBe(0);
  });

  it('ignores the silence of an endpoint that is not first', () => {
    const endpoints = new Endpoints(['a', 'b', 'c']);
    endpoints.silent(1, 20);
    expect(endpoints.first).toBe(0);
  });
});
