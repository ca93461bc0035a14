import { describe, expect, it } from 'vitest';
import { processTransport } from './transport.js';

describe('the transport of a process', () => {
  it('looks before it sleeps for as long as it is told', () => {
    expect(() => processTransport('zmtp', 0)).not.toThrow();
    // Who refuses this has been told.
    expect(() => processTransport('zmtp', 10_001)).toThrow('pollUs = 10001: must be an integer from 0 to 10000');
  });

  it('says so where it cannot look', () => {
    expect(() => processTransport('zmq', 0)).toThrow(
      expect.objectContaining({
        code: 'OPTIONS_INVALID',
        message: expect.stringContaining('--transport zmtp') as string,
      }),
    );
  });
});
