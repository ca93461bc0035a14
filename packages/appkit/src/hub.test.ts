import { describe, expect, it } from 'vitest';
import { halfOfMemory, hubOptions, hubTransport } from './hub.js';
import type { HubSettings } from './hub.js';
import { createLogger } from './logging.js';
import * as z from 'zod';

const { log } = createLogger('test', { logLevel: 'silent' }, { fd: 2, level: 'warn' });
const settings = (given: object): HubSettings => z.object(hubOptions).parse(given);

describe('the transport of a hub', () => {
  it('takes the options of zmtp, within its bounds', () => {
    expect(() =>
      hubTransport(settings({ pollUs: 0, connectionsMax: 10, unreadMaxBytes: 1_000_000 }), log),
    ).not.toThrow();
    expect(() => settings({ connectionsMax: 0 })).toThrow();
    expect(() => settings({ pollUs: 10_001 })).toThrow();
  });

  it('refuses them with libzmq, which has no such limits', () => {
    expect(() => hubTransport(settings({ transport: 'zmq', pollUs: 0 }), log)).toThrow(
      '--poll-us: needs --transport zmtp',
    );
    expect(() => hubTransport(settings({ transport: 'zmq', handshakesMax: 1 }), log)).toThrow('--handshakes-max');
  });

  it('has one memory budget, which its sockets join', () => {
    for (const transport of ['zmtp', 'zmq'] as const) {
      const hub = hubTransport(settings({ transport, memoryMax: 2 ** 28 }), log);
      expect(hub.memory.maxBytes).toBe(2 ** 28);
      expect(hub.transport.memory).toBe(hub.memory);
    }
  });

  it('changes the budget on reload, also to the default, and says so', () => {
    const { memory, reload } = hubTransport(settings({ memoryMax: 2 ** 28 }), log);
    expect(reload(settings({ memoryMax: 2 ** 27, connectionsMax: 10 }))).toEqual(['memoryMax']);
    expect(memory.maxBytes).toBe(2 ** 27);
    reload(settings({}));
    expect(memory.maxBytes).toBe(halfOfMemory());
  });

  it('has half of the memory of the machine, or of its cgroup if that is less', () => {
    expect(halfOfMemory(2 ** 34, 0)).toBe(2 ** 33);
    expect(halfOfMemory(2 ** 34, 2 ** 30)).toBe(2 ** 29);
    expect(halfOfMemory(2 ** 34, 2 ** 64)).toBe(2 ** 33);
    expect(halfOfMemory(2 ** 20, 0)).toBe(2 ** 26);
  });
});
