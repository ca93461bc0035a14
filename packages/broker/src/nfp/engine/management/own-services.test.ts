/** The broker's own services beyond `scenarios/`: inventory, files, the management endpoint, hostile bodies. */
import { fromLatin1 } from '@proj/frames';
import type { NfpCall } from '@proj/frames/nfp';
import { describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../../test/nfp/broker-under-test.js';
import { peerNamed } from '../../../../test/keyed.js';
import type { NfpFileOutcome } from '../events.js';
import type { NfpInventory } from './inventory.js';

const INVENTORY: NfpInventory = {
  broker: { endpoint: 'tcp://127.0.0.1:5555' },
  topology: {},
  workers: [
    { glob: '*', source: 'common.yaml', data: { a: 1 } },
    { glob: 'w1', source: '(inline)', data: { b: 2 } },
  ],
};

const SID = 'sid.service.broker';
const FSS = 'fss.service.broker';

function ask(
  broker: BrokerUnderTest,
  service: string,
  task: unknown,
  kwargs: unknown = {},
  how: NfpCall = 'get',
  uuid = 'u1',
) {
  return broker.call('c1', how, uuid, 'all', service, JSON.stringify({ task, kwargs, args: [] }));
}

describe('the inventory service', () => {
  it('rule 20: gives a worker its data, and null if there is none', () => {
    const broker = new BrokerUnderTest({ inventory: INVENTORY });
    expect(ask(broker, SID, 'get_inventory', { name: 'w1' })).toEqual([`-> c1 RESPONSE ${SID} u1 200 {"a":1,"b":2}`]);
    const few = new BrokerUnderTest({ inventory: { ...INVENTORY, workers: [] } });
    expect(ask(few, SID, 'get_inventory', { name: 'w1' })).toEqual([`-> c1 RESPONSE ${SID} u1 200 null`]);
  });

  it('rule 20: accepts the name as an argument, too', () => {
    const broker = new BrokerUnderTest({ inventory: INVENTORY });
    const body = '{"task":"get_inventory","args":["w2"]}';
    expect(broker.call('c1', 'post', 'u1', 'all', SID, body)).toEqual([`-> c1 RESPONSE ${SID} u1 200 {"a":1}`]);
  });

  it('rule 17: answers a call by MMI twice', () => {
    const broker = new BrokerUnderTest({ inventory: INVENTORY });
    expect(ask(broker, SID, 'get_inventory', { name: 'w2' }, 'mmi')).toEqual([
      `-> c1 RESPONSE ${SID} u1 200 {"a":1}`,
      `-> c1 MMI ${SID} u1 200 {"a":1}`,
    ]);
    const legacy = new BrokerUnderTest({ inventory: INVENTORY, dialect: 'legacy' });
    expect(ask(legacy, SID, 'get_inventory', { name: 'w2' }, 'mmi')).toEqual([
      `-> c1 NFPC01 RESPONSE ${SID} u1 200 {"a":1}`,
    ]);
  });

  it('rule 20: a new inventory applies from the next question on', () => {
    const broker = new BrokerUnderTest({ inventory: INVENTORY });
    const inventory = { ...INVENTORY, workers: [{ glob: '*', source: 'x', data: { c: 3 } }] };
    expect(broker.step({ kind: 'inventory', inventory })).toEqual([]);
    expect(ask(broker, SID, 'get_inventory', { name: 'w1' })).toEqual([`-> c1 RESPONSE ${SID} u1 200 {"c":3}`]);
  });

  it('rules 11, 20 and 21: do not exist without an inventory or a folder, and the answer says so', () => {
    const broker = new BrokerUnderTest();
    expect(ask(broker, SID, 'get_inventory', { name: 'w1' })).toContain(
      '-> c1 RESPONSE sid.service.broker u1 400 FAILED null ["the broker has no inventory"]',
    );
    expect(ask(broker, FSS, 'walk', { url: 'nf://' })).toContain(
      '-> c1 RESPONSE fss.service.broker u1 400 FAILED null ["the broker has no files"]',
    );
  });

  it('rule 17: show_broker_inventory lists globs and sources', () => {
    const broker = new BrokerUnderTest({ inventory: INVENTORY });
    expect(broker.mmi('c1', 'show_broker_inventory', {}, 'get')).toEqual([
      '-> c1 RESPONSE mmi.service.broker m 200 {"broker":{"endpoint":"tcp://127.0.0.1:5555"},"topology":{},"workers":{"*":["common.yaml"],"w1":["(inline)"]}}',
    ]);
    expect(new BrokerUnderTest().mmi('c1', 'show_broker_inventory', {}, 'get')).toEqual([
      '-> c1 RESPONSE mmi.service.broker m 200 {"broker":{},"topology":null,"workers":{}}',
    ]);
  });

  it('an unknown task is answered with a text that says so', () => {
    const broker = new BrokerUnderTest({ inventory: INVENTORY });
    expect(ask(broker, SID, 'fly')).toEqual([`-> c1 RESPONSE ${SID} u1 200 "Unsupported task 'fly'"`]);
  });
});

describe('the file service', () => {
  const files = () => new BrokerUnderTest({ files: '/srv' });
  const done = (broker: BrokerUnderTest, outcome: NfpFileOutcome, id = 1) =>
    broker.step({ kind: 'file-answer', id, outcome });
  const absent = (escape: boolean): NfpFileOutcome => ({ kind: 'absent', escape });
  const answered = (body: string) => [`-> c1 RESPONSE ${FSS} u1 200 ${body}`];

  it('rule 21: requests what a task needs', () => {
    const broker = files();
    let asked = 0;
    const wants = (task: string, kwargs: object) => ask(broker, FSS, task, kwargs, 'get', `u${++asked}`);
    expect(wants('list_files', { url: 'nf://a' })).toEqual(['file-request 1 list_files nf://a']);
    expect(wants('file_details', { url: 'nf://a' })).toEqual(['file-request 2 file_details nf://a']);
    expect(wants('walk', { url: 'nf://' })).toEqual(['file-request 3 walk nf://']);
    expect(wants('fetch_file', { url: 'nf://a', offset: 7, chunk_size: 9 })).toEqual([
      'file-request 4 fetch_file nf://a 7 9',
    ]);
    expect(wants('fetch_file', { url: 'nf://a' })).toEqual(['file-request 5 fetch_file nf://a 0 256000']);
  });

  it('rule 21: calls of one client under one uuid are read and answered in their order, those of others meanwhile', () => {
    const broker = files();
    const chunk = (offset: number, uuid?: string) =>
      ask(broker, FSS, 'fetch_file', { url: 'nf://a', offset, chunk_size: 1 }, 'get', uuid);
    const bytes = (text: string): NfpFileOutcome => ({ kind: 'bytes', bytes: fromLatin1(text) });
    expect(chunk(0)).toEqual(['file-request 1 fetch_file nf://a 0 1']);
    expect(chunk(1)).toEqual([]);
    expect(chunk(-1)).toEqual([]);
    expect(chunk(2)).toEqual([]);
    expect(chunk(3, 'u2')).toEqual(['file-request 2 fetch_file nf://a 3 1']);
    expect(done(broker, bytes('d'), 2)).toEqual([`-> c1 RESPONSE ${FSS} u2 200 d`]);
    expect(done(broker, bytes('a'), 1)).toEqual([...answered('a'), 'file-request 3 fetch_file nf://a 1 1']);
    expect(done(broker, { kind: 'failed', error: 'EIO' }, 3)).toEqual([
      `note call-refused files-failed c1 ${FSS}`,
      `-> c1 RESPONSE ${FSS} u1 500 FAILED null ["EIO"]`,
      ...answered("Unsupported offset '-1': must be a whole number of bytes from 0"),
      'file-request 4 fetch_file nf://a 2 1',
    ]);
    expect(done(broker, bytes('c'), 4)).toEqual(answered('c'));
    expect(chunk(4)).toEqual(['file-request 5 fetch_file nf://a 4 1']);
  });

  it('rule 21: calls that wait their turn count, and closing gives them up', () => {
    const broker = new BrokerUnderTest({ files: '/srv', fileRequestsMax: 2 });
    ask(broker, FSS, 'walk', { url: 'nf://' });
    ask(broker, FSS, 'fetch_file', {});
    expect(ask(broker, FSS, 'walk', { url: 'nf://' }, 'get', 'u2')[0]).toBe(`note call-refused files-busy c1 ${FSS}`);
    expect(broker.drain().filter((line) => line.includes('500'))).toHaveLength(2);
  });

  it.each<[task: string, outcome: NfpFileOutcome, body: string]>([
    ['list_files', { kind: 'names', names: ['a', 'b'] }, '["a","b"]'],
    ['walk', { kind: 'names', names: ['nf://a'] }, '["nf://a"]'],
    ['file_details', { kind: 'details', size: 3, md5: 'ff' }, '{"md5hash":"ff","size_bytes":3,"exists":true}'],
    ['fetch_file', { kind: 'bytes', bytes: fromLatin1('\0\xff') }, '\0\xff'],
    ['fetch_file', { kind: 'bytes', bytes: new Uint8Array(0) }, ''],
    ['list_files', absent(false), '["Directory Not Found"]'],
    ['walk', absent(false), '[]'],
    ['file_details', absent(false), '{"md5hash":null,"size_bytes":null,"exists":false}'],
    ['fetch_file', absent(false), "Not Found 'x/y'"],
  ])('rule 21: %s answers as the releases do (%#)', (task, outcome, body) => {
    const broker = files();
    ask(broker, FSS, task, { url: 'nf://x/y' });
    expect(done(broker, outcome)).toEqual(answered(body));
    expect(done(broker, outcome)).toEqual([]);
  });

  it('rule 21: a file outside is answered like a missing one, and counted', () => {
    const broker = files();
    ask(broker, FSS, 'fetch_file', { url: 'nf://../x' });
    expect(done(broker, absent(true))).toEqual(['note message-dropped fss-escape c1', ...answered("Not Found '../x'")]);
    expect(broker.dropped).toEqual({ 'fss-escape': 1 });
  });

  it.each<[task: string, kwargs: object, text: string]>([
    ['list_files', {}, '"No file URL provided"'],
    ['fetch_file', { url: '' }, 'No file URL provided'],
    ['fetch_file', { url: null }, 'No file URL provided'],
    ['walk', { url: 'http://x' }, `"Unsupported URL 'http://x': must begin with nf://"`],
    ['fetch_file', { url: 'nf://a', offset: -1 }, "Unsupported offset '-1': must be a whole number of bytes from 0"],
    ['fetch_file', { url: 'nf://a', offset: 1.5 }, "Unsupported offset '1.5': must be a whole number of bytes from 0"],
    [
      'fetch_file',
      { url: 'nf://a', offset: 1e300 },
      "Unsupported offset '1e+300': must be a whole number of bytes from 0",
    ],
    [
      'fetch_file',
      { url: 'nf://a', chunk_size: 0 },
      "Unsupported chunk_size '0': must be a whole number of bytes from 1",
    ],
    ['remove', { url: 'nf://a' }, `"Unsupported task 'remove'"`],
  ])('rule 21: %s of %j is answered with a text', (task, kwargs, text) => {
    expect(ask(files(), FSS, task, kwargs)).toEqual(answered(text));
  });

  it('rule 21: a call beyond fileRequestsMax gets 500, and is served again once another is done', () => {
    const broker = new BrokerUnderTest({ files: '/srv', fileRequestsMax: 1 });
    ask(broker, FSS, 'walk', { url: 'nf://' });
    expect(ask(broker, FSS, 'walk', { url: 'nf://' })).toEqual([
      `note call-refused files-busy c1 ${FSS}`,
      `-> c1 RESPONSE ${FSS} u1 500 FAILED null ["too many requests for files are under way: ask again later"]`,
    ]);
    done(broker, absent(false));
    expect(ask(broker, FSS, 'walk', { url: 'nf://' })).toEqual(['file-request 2 walk nf://']);
  });

  it('rule 21: a failing disk is answered with 500', () => {
    const broker = files();
    ask(broker, FSS, 'walk', { url: 'nf://' });
    expect(done(broker, { kind: 'failed', error: 'EIO' })).toEqual([
      `note call-refused files-failed c1 ${FSS}`,
      `-> c1 RESPONSE ${FSS} u1 500 FAILED null ["EIO"]`,
    ]);
  });

  it('rule 17: answers a call by MMI twice', () => {
    const broker = files();
    ask(broker, FSS, 'walk', { url: 'nf://' }, 'mmi');
    expect(done(broker, absent(false))).toEqual([...answered('[]'), `-> c1 MMI ${FSS} u1 200 []`]);
  });

  it('rule 14: closing gives up calls that wait for files', () => {
    const broker = files();
    ask(broker, FSS, 'walk', { url: 'nf://' });
    expect(broker.drain()).toEqual([
      `note call-refused drained c1 ${FSS}`,
      `-> c1 RESPONSE ${FSS} u1 500 FAILED null ["the broker is closing"]`,
      'drained',
    ]);
    expect(done(broker, absent(false))).toEqual([]);
  });

  it('rule 21: does not exist without a folder', () => {
    expect(ask(new BrokerUnderTest(), FSS, 'walk', { url: 'nf://' })[0]).toBe(`note call-refused no-worker c1 ${FSS}`);
  });
});

describe('the management endpoint', () => {
  function manage(broker: BrokerUnderTest, service: string, task: string): string[] {
    const call = { kind: 'client-call', form: 'ascii', command: 'post', service, target: 'all', uuid: 'm' } as const;
    const body = [fromLatin1(JSON.stringify({ task }))];
    return broker.step({ kind: 'message', peer: peerNamed('admin'), command: { ...call, body }, at: 'management' });
  }

  it('rule 18: obeys commands that are refused elsewhere', () => {
    const broker = new BrokerUnderTest();
    broker.ready('w1');
    expect(broker.mmi('c1', 'restart')[0]).toBe('note call-refused management c1 mmi.service.broker');
    expect(manage(broker, 'mmi.service.broker', 'restart')).toEqual([
      '-> admin RESPONSE mmi.service.broker m 200 "restarting"',
      '-> w1 DISCONNECT sample',
      'worker-lost w1 sample dismissed',
      'management restart',
    ]);
  });

  it('rule 18: a restart loses no job: its worker comes back and answers', () => {
    const broker = new BrokerUnderTest();
    broker.ready('w1');
    broker.post('c1', 'u1');
    manage(broker, 'mmi.service.broker', 'restart');
    broker.advance(1000);
    broker.ready('w1');
    expect(broker.answer('w1', 'response', 'c1', 'u1', 200)).toEqual(['-> c1 RESPONSE sample u1 200 {}']);
  });

  it('rule 18: shows what the main endpoint shows', () => {
    expect(manage(new BrokerUnderTest(), 'mmi.service.broker', 'show_services')).toEqual([
      '-> admin RESPONSE mmi.service.broker m 200 [{"name":"","workers":0,"workers alive":0,"queued":0}]',
    ]);
  });

  it.each(['sample', SID, FSS, 'mmi.service.worker'])('rule 18: serves no %s', (service) => {
    const broker = new BrokerUnderTest({ inventory: INVENTORY, files: '/srv' });
    broker.ready('w1');
    expect(manage(broker, service, 'walk')).toEqual([
      `note call-refused not-management admin ${service}`,
      `-> admin RESPONSE ${service} m 400 FAILED null ["only mmi.service.broker is served at this endpoint"]`,
    ]);
  });

  it('rule 18: accepts no workers', () => {
    const broker = new BrokerUnderTest();
    const command = { kind: 'worker-ready', form: 'ascii', service: 'sample' } as const;
    expect(broker.step({ kind: 'message', peer: peerNamed('w1'), command, at: 'management' })).toEqual([
      'note message-dropped direction w1',
    ]);
    expect(broker.stats.workers).toBe(0);
  });
});

describe('hostile bodies', () => {
  const levels = 100_000;
  const bodies: [what: string, body: string][] = [
    ['nothing', ''],
    ['no JSON', '{"task":'],
    ['no object', '[]'],
    ['no task', '{}'],
    ['a task that is no text', '{"task":{"a":1}}'],
    ['kwargs that are a list', '{"task":"walk","kwargs":[]}'],
    ['kwargs that are null', '{"task":"walk","kwargs":null}'],
    ['args that are an object', '{"task":"walk","args":{}}'],
    ['invalid UTF-8', '{"task":"\xff\xfe"}'],
    ['deep lists', '['.repeat(levels) + ']'.repeat(levels)],
    ['deep objects', '{"a":'.repeat(levels) + '1' + '}'.repeat(levels)],
    ['deep lists in kwargs', `{"task":"walk","kwargs":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`],
    ['deep lists within the limit, not closed', '['.repeat(65_000)],
    ['a text of 10 MB', `{"task":"${'x'.repeat(10_000_000)}"}`],
  ];

  it.each([SID, FSS, 'mmi.service.broker'].flatMap((service) => bodies.map((one) => [service, ...one] as const)))(
    'rule 16: %s with %s is answered with 400 and counted',
    (service, _, body) => {
      const broker = new BrokerUnderTest({ inventory: INVENTORY, files: '/srv' });
      expect(broker.call('c1', 'get', 'u1', 'all', service, body)).toEqual([
        `note call-refused task c1 ${service}`,
        `-> c1 RESPONSE ${service} u1 400 FAILED null ["the body is not {\\"task\\":text,\\"kwargs\\":object,\\"args\\":array}"]`,
      ]);
      expect(broker.dropped).toEqual({ task: 1 });
    },
  );

  it('rule 16: a deep list within the limit is a value like any other', () => {
    const broker = new BrokerUnderTest({ inventory: INVENTORY });
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    const body = `{"task":"get_inventory","kwargs":{"name":"w1","more":${deep}}}`;
    expect(broker.call('c1', 'get', 'u1', 'all', SID, body)[0]).toContain(' 200 {"a":1,"b":2}');
  });

  it.each<[service: string, task: string, kwargs: object]>([
    [SID, 'get_inventory', {}],
    [SID, 'get_inventory', { name: 1 }],
    [SID, 'get_inventory', { name: ['w1'] }],
    [FSS, 'list_files', { url: 1 }],
    [FSS, 'walk', { url: ['nf://'] }],
    [FSS, 'file_details', { url: {} }],
    [FSS, 'fetch_file', { url: 'nf://a', offset: '0' }],
    [FSS, 'fetch_file', { url: 'nf://a', chunk_size: [1] }],
    [FSS, 'fetch_file', { url: 'nf://a', offset: null }],
  ])('rule 16: %s %s with %j is answered with 400', (service, task, kwargs) => {
    const broker = new BrokerUnderTest({ inventory: INVENTORY, files: '/srv' });
    expect(ask(broker, service, task, kwargs)[1]).toContain(`-> c1 RESPONSE ${service} u1 400 FAILED`);
    expect(broker.dropped).toEqual({ task: 1 });
  });

  it.each([{ service: 1 }, { service: null, status: [] }, { status: { a: 1 } }])(
    'rule 17: show_workers ignores what %j is not',
    (kwargs) => {
      const broker = new BrokerUnderTest();
      broker.ready('w1');
      expect(broker.mmi('c1', 'show_workers', kwargs, 'get')[0]).toContain('"name":"w1"');
    },
  );

  it('rule 17: show_workers takes service all for every service', () => {
    const broker = new BrokerUnderTest();
    broker.ready('w1');
    expect(broker.mmi('c1', 'show_workers', { service: 'all' }, 'get')[0]).toContain('"name":"w1"');
  });

  it.each([{ workers: 7 }, { workers: 'w1' }, { workers: ['w1', null] }, { service: 1 }, { service: ['sample'] }])(
    'rule 18: disconnect with %j disconnects nobody',
    (kwargs) => {
      const broker = new BrokerUnderTest({ managementCommands: true });
      broker.ready('w1');
      expect(broker.mmi('c1', 'disconnect', kwargs, 'get')[1]).toContain(' 400 FAILED ');
      expect(broker.stats.workers).toBe(1);
      expect(broker.mmi('c1', 'disconnect', { service: null }, 'get')[0]).toContain('{"disconnected":["w1"]}');
    },
  );
});
