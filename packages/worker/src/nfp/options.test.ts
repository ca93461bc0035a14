import { expect, it } from 'vitest';
import { parseOptions } from '@proj/transport';
import { nfpWorkerOptions } from './options.js';
import { NfpWorker } from './worker.js';

const valid = { service: 'math', name: 'math-1', tasks: { add: () => 1 } };

it.each<[string, object, string]>([
  ['no service', { ...valid, service: undefined }, 'option service = undefined'],
  ['a service that is not printable', { ...valid, service: 'a\nb' }, 'expected 1 to 255 bytes of printable UTF-8'],
  ['a service of the broker', { ...valid, service: 'mmi.service.worker' }, 'this name is reserved for the broker'],
  ['no name', { ...valid, name: '' }, 'option name = ""'],
  ['a name of 256 bytes', { ...valid, name: 'é'.repeat(128) }, 'expected 1 to 255 bytes'],
  ['no tasks', { ...valid, tasks: {}, baseTasks: false }, 'expected at least one task'],
  ['a task that is none', { ...valid, tasks: { add: 7 } }, 'expected a function, or an object with a handler'],
  ['a store that is none', { ...valid, store: {} }, 'expected a RecordStore'],
  ['a back-off that shrinks', { ...valid, reconnectMinMs: 500, reconnectMaxMs: 100 }, 'at least reconnectMinMs'],
  ['an interval below 100 ms', { ...valid, keepaliveIntervalMs: 99 }, 'option keepaliveIntervalMs = 99'],
  ['an unknown option', { ...valid, handler: () => 1 }, 'handler'],
])('refuses %s', (_, options, message) => {
  const construct = () => new NfpWorker(options as never);
  expect(construct).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
  expect(construct).toThrow(message);
});

it('needs only a service, a name and a task', () => {
  expect(() => new NfpWorker(valid)).not.toThrow();
});

it('rule 5: runs five jobs at a time by default', () => {
  expect(parseOptions('NfpWorker', nfpWorkerOptions, valid)).toMatchObject({ concurrency: 5 });
});
