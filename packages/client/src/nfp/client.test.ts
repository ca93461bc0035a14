import { getEventListeners } from 'node:events';
import { latin1 } from '@proj/frames';
import { memoryRecords } from '@proj/transport';
import { describe, expect, it } from 'vitest';
import { doing, silence, Stage } from '../../test/nfp/stage.js';
import type { Asked } from '../../test/nfp/stage.js';
import { A, B } from '../../test/world.js';
import { NfpClient } from './client.js';
import type { NfpInputRequest } from './options.js';
import { nfpResultsOrThrow } from './results.js';

/** The values of an iterable. */
async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const list = [];
  for await (const value of values) list.push(value);
  return list;
}

describe('run', () => {
  it('rule 2: posts once, asks the workers that have the job, and resolves with what each of them returned', async () => {
    const stage = new Stage();
    const broker = await stage.broker(doing('w1', 'w2'));
    const results = await stage.settle(stage.client().run('sample', 'add', { args: [2], kwargs: { b: 3 } }));
    expect(results).toMatchObject({
      w1: { worker: 'w1', status: 200, failed: false, result: 'done by w1', errors: [] },
      w2: { result: 'done by w2' },
    });
    expect(broker.heard).toEqual(['post all', 'get ["w1","w2"]']);
    expect(broker.asked[0]!.body).toEqual({ task: 'add', args: [2], kwargs: { b: 3 } });
    expect(broker.asked[1]!.call.uuid).toBe(broker.asked[0]!.call.uuid);
    expect(broker.asked[0]!.call.uuid).toMatch(/^[0-9a-f]{32}$/);
    expect(nfpResultsOrThrow(results)).toEqual({ w1: 'done by w1', w2: 'done by w2' });
  });

  it.each([
    ['all', 'all'],
    ['any', 'any'],
    ['w1', 'w1'],
    [['w1', 'w2'], '["w1","w2"]'],
  ])('target %j goes out as %s', async (target, wire) => {
    const stage = new Stage();
    const broker = await stage.broker();
    await stage.settle(stage.client().run('sample', 't', { target }));
    expect(broker.asked[0]!.call.target).toBe(wire);
  });

  it('rule 2: asks every pollIntervalMs, and only workers that have not answered yet', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      const count = broker.asked.length;
      asked.dispatch('w1', 'w2');
      if (asked.kind === 'post') for (const worker of ['w1', 'w2']) asked.say(worker, 201, 'ACCEPTED');
      else if (count === 2) {
        asked.result('w1', 1);
        asked.say('w2', 300, 'STARTED');
      } else if (count === 3) asked.say('w2', 300, 'STARTED');
      else asked.result('w2', 2);
    });
    const start = stage.network.clock.now();
    await stage.settle(stage.client({ pollIntervalMs: 100 }).run('sample', 't'));
    expect(broker.heard).toEqual(['post all', 'get ["w1","w2"]', 'get ["w2"]', 'get ["w2"]']);
    expect(stage.network.clock.now() - start).toBeGreaterThanOrEqual(300);
  });

  it('rule 2: asks at once when a worker reports completion', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      doing('w1')(asked);
      if (asked.kind === 'post') asked.event('w1', 'completed');
    });
    await stage.settle(stage.client({ pollIntervalMs: 3_600_000, timeoutMs: 1000 }).run('sample', 't'));
    expect(broker.heard).toEqual(['post all', 'get ["w1"]']);
  });

  it('rule 2: asks only the worker that has completed, so that two hundred of them cost two hundred queries', async () => {
    const stage = new Stage();
    const names = Array.from({ length: 200 }, (_, index) => `w${index}`);
    const broker = await stage.broker((asked) => {
      doing(...names)(asked);
      if (asked.kind === 'post') for (const name of names) asked.event(name, 'completed');
    });
    const client = stage.client({ pollIntervalMs: 3_600_000, timeoutMs: 1000 });
    expect(Object.keys(await stage.settle(client.run('sample', 't')))).toEqual(names);
    expect(broker.heard).toEqual(['post all', ...names.map((name) => `get ["${name}"]`)]);
  });

  it('rule 2: asks all of them if the event does not name the worker', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      doing('w1', 'w2')(asked);
      if (asked.kind === 'post') asked.event('w1', 'completed', { worker: undefined });
    });
    await stage.settle(stage.client({ pollIntervalMs: 3_600_000, timeoutMs: 1000 }).run('sample', 't'));
    expect(broker.heard).toEqual(['post all', 'get ["w1","w2"]']);
  });

  it.each([
    ['mmi.service.broker', 'mmi()'],
    ['mmi.service.worker', 'mmiWorkers()'],
    ['sid.service.broker', 'inventory()'],
    ['fss.service.broker', 'fetchFile() or listFiles()'],
  ])('rule 6: %s has no jobs, which is reported at once', async (service, instead) => {
    const stage = new Stage();
    const broker = await stage.broker();
    const posted = stage.settle(stage.client().post(service, 'restart'));
    await expect(posted).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await expect(posted).rejects.toThrow(instead);
    expect(broker.heard).toEqual([]);
  });

  it('rule 3: is accepted when each worker has said whether it accepts it', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      asked.dispatch('w1', 'w2', 'w3');
      if (asked.kind === 'post') {
        asked.say('w1', 201, 'ACCEPTED');
        asked.say('w2', 400, 'FAILED', { errors: ['uuid is in use for another call'] });
      } else if (broker.asked.length > 3) asked.say('w3', 300, 'PENDING');
    });
    const job = await stage.settle(stage.client({ pollIntervalMs: 100 }).post('sample', 't'));
    expect(await stage.settle(job.dispatched)).toEqual(['w1', 'w2', 'w3']);
    expect(broker.asked.length).toBeLessThan(3);
    expect(await stage.settle(job.accepted)).toEqual(['w1', 'w3']);
    expect(job.said).toMatchObject([{ worker: 'w2', errors: ['uuid is in use for another call'] }]);
  });

  it('rule 3: is accepted by no worker if all refuse it, and not at all if the broker does', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      asked.dispatch('w1');
      asked.say('w1', 400, 'FAILED', { errors: ['no'] });
    });
    const client = stage.client();
    const refused = await stage.settle(client.post('sample', 't'));
    expect(await stage.settle(refused.accepted)).toEqual([]);
    broker.answer = (asked) => asked.refuse('no worker of the service');
    const nowhere = await stage.settle(client.post('sample', 't'));
    await expect(stage.settle(nowhere.accepted)).rejects.toThrow('no worker of the service');
  });

  it('rule 4: reposts a job for any worker that its worker has forgotten, three times at most', async () => {
    const stage = new Stage();
    let posts = 0;
    let helps = true;
    await stage.broker((asked) => {
      if (asked.kind === 'post') posts++;
      const worker = `w${posts}`;
      asked.dispatch(worker);
      if (asked.kind === 'post') asked.say(worker, 201, 'ACCEPTED');
      else if (posts === 3 && helps) asked.result(worker, 5);
      else asked.say(worker, 404, 'JOB NOT FOUND');
    });
    const client = stage.client();
    const job = await stage.settle(client.post('sample', 't', { target: 'any' }));
    expect(await stage.settle(job.done())).toMatchObject({ w3: { status: 200, result: 5 } });
    expect(client.stats()).toMatchObject({ posts: 3, reposts: 2 });
    [posts, helps] = [0, false];
    const given = await stage.settle(client.run('sample', 't', { target: 'any' }));
    expect(given).toMatchObject({ w4: { status: 404, failed: true } });
    expect(posts).toBe(4);
  });

  it('rule 8: reports once that without a store jobs are lost with the process', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      asked.dispatch('w1');
      asked.result('w1', 1);
    });
    const client = stage.client();
    const notes: string[] = [];
    client.on('note', ({ code }) => notes.push(code));
    await stage.settle(client.run('sample', 't'));
    await stage.settle(client.run('sample', 't'));
    expect(notes).toEqual(['volatile-store']);
    const durable = stage.client({ store: memoryRecords() });
    durable.on('note', ({ code }) => notes.push(code));
    await stage.settle(durable.run('sample', 't'));
    expect(notes).toHaveLength(1);
  });

  it.each([201, 202])('rule 3: takes %i from a worker for its acceptance', async (status) => {
    const stage = new Stage();
    await stage.broker((asked) => {
      asked.dispatch('w1');
      if (asked.kind === 'post') asked.say('w1', status, 'ACCEPTED');
      // The worker knew the job, so nothing is reposted.
      else asked.say('w1', 404, 'JOB NOT FOUND');
    });
    const client = stage.client();
    const results = await stage.settle(client.run('sample', 't'));
    expect(results['w1']).toMatchObject({ status: 404, failed: true });
    expect(client.stats().posts).toBe(1);
  });

  it('rule 3: silence until the timeout is an error that says what to check', async () => {
    const stage = new Stage();
    const outcome = stage.settle(stage.client().run('sample', 't', { timeoutMs: 1000 }));
    await expect(outcome).rejects.toThrow(`no answer in time (${A}); ${A}: not connected: connect ECONNREFUSED ${A}`);
  });

  it('rule 3: a broker’s 400 is final, in its own words', async () => {
    const stage = new Stage();
    await stage.broker((asked) => asked.refuse('no worker of the service'));
    const outcome = stage.settle(stage.client().run('sample', 't'));
    await expect(outcome).rejects.toThrow('no worker of the service');
  });

  it('rule 3: the 400 of old brokers is text', async () => {
    const stage = new Stage();
    await stage.broker((asked) => asked.answer(400, Buffer.from("No workers for target 'all'")));
    const outcome = stage.settle(stage.client().run('sample', 't'));
    await expect(outcome).rejects.toMatchObject({ details: { errors: ["No workers for target 'all'"] } });
  });

  it('rule 3: a worker that was too busy is offered the job again', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      if (broker.asked.length === 1) {
        asked.dispatch('w1');
        asked.say('w1', 500, 'FAILED');
      } else doing('w1')(asked);
    });
    expect(nfpResultsOrThrow(await stage.settle(stage.client().run('sample', 't')))).toEqual({ w1: 'done by w1' });
    expect(broker.heard).toEqual(['post all', 'post ["w1"]', 'get ["w1"]']);
  });

  it('rule 3: or another one, if it is for any', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      const posts = broker.heard.length;
      if (posts === 1) {
        asked.dispatch('w1');
        asked.say('w1', 500, 'FAILED');
      } else if (posts === 2) asked.refuse('nobody is there');
      else doing('w2')(asked);
    });
    const outcome = stage.settle(stage.client().run('sample', 't', { target: 'any' }));
    expect(nfpResultsOrThrow(await outcome)).toEqual({ w2: 'done by w2' });
    expect(broker.heard).toEqual(['post any', 'post any', 'post any', 'get ["w2"]']);
  });

  it('rule 4: a job that has not reached one of its workers is reposted to that one, three times at most', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      if (broker.heard.length === 1) asked.dispatch('w1', 'w2', 'w3');
      if (asked.call.target === '["w2"]' && asked.call.command === 'post') asked.say('w2', 201, 'ACCEPTED');
      if (asked.call.command !== 'get') return;
      const isThere = broker.heard.includes('post ["w2"]');
      asked.result('w1', 'done by w1');
      if (isThere) asked.result('w2', 'done by w2');
      else asked.say('w2', 404, 'JOB NOT FOUND');
      asked.say('w3', 404, 'JOB NOT FOUND');
    });
    const results = await stage.settle(stage.client().run('sample', 't'));
    expect(Object.entries(results).map(([worker, { status }]) => [worker, status])).toEqual([
      ['w1', 200],
      ['w2', 200],
      ['w3', 404],
    ]);
    expect(broker.heard.filter((line) => line.startsWith('post'))).toEqual([
      'post all',
      'post ["w2"]',
      'post ["w3"]',
      'post ["w3"]',
      'post ["w3"]',
    ]);
  });

  it('rule 4: a 404 that answers a query from before the repost is ignored', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      const posts = broker.heard.filter((line) => line.startsWith('post')).length;
      if (asked.call.command === 'post') asked.dispatch('w1');
      if (asked.call.command === 'post' && posts === 1) return;
      if (asked.call.command === 'get' && posts > 1) asked.result('w1', 'done by w1');
      else for (let late = 0; late < 3; late++) asked.say('w1', 404, 'JOB NOT FOUND');
    });
    expect(nfpResultsOrThrow(await stage.settle(stage.client().run('sample', 't')))).toEqual({ w1: 'done by w1' });
    expect(broker.heard.filter((line) => line.startsWith('post'))).toEqual(['post all', 'post all']);
  });

  it('rule 3: is not assumed to have lost the job when it says that it does not know it', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      if (broker.asked.length > 1) {
        doing('w1', 'w2')(asked);
        return;
      }
      asked.dispatch('w1', 'w2');
      asked.say('w2', 201, 'ACCEPTED');
      asked.say('w1', 500, 'FAILED');
      asked.say('w1', 404, 'JOB NOT FOUND');
    });
    const results = await stage.settle(stage.client().run('sample', 't'));
    expect(nfpResultsOrThrow(results)).toEqual({ w1: 'done by w1', w2: 'done by w2' });
    expect(broker.heard).toContain('post ["w1"]');
  });

  it('rule 3: a failed task is a result', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      asked.dispatch('w1');
      if (asked.kind === 'get') asked.result('w1', null, { failed: true, errors: ['no such task'] });
    });
    const results = await stage.settle(stage.client().run('sample', 't'));
    expect(results['w1']).toMatchObject({ status: 200, failed: true, errors: ['no such task'] });
    expect(() => nfpResultsOrThrow(results)).toThrow('w1: no such task');
  });

  it('rule 3: a worker that does not answer in time has 408, beside the results of others', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      asked.dispatch('w1', 'w2');
      if (asked.kind === 'get') asked.result('w1', 1);
    });
    const results = await stage.settle(stage.client({ timeoutMs: 2000 }).run('sample', 't'));
    expect(results).toMatchObject({ w1: { status: 200 }, w2: { status: 408, failed: true } });
    expect(() => nfpResultsOrThrow(results)).toThrow(expect.objectContaining({ code: 'TIMEOUT' }) as Error);
  });

  it('without a broker it is TIMEOUT', async () => {
    const stage = new Stage();
    const outcome = stage.settle(stage.client({ timeoutMs: 5000 }).run('sample', 't'));
    await expect(outcome).rejects.toMatchObject({ code: 'TIMEOUT' });
  });

  it('a result that is not JSON is bytes', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      asked.dispatch('w1');
      if (asked.kind === 'get') asked.answer(200, Buffer.from('plain'));
    });
    expect((await stage.settle(stage.client().run('sample', 't')))['w1']!.result).toEqual(Buffer.from('plain'));
  });

  it.each([
    ['no service', '', {}, 'OPTIONS_INVALID'],
    ['a target that UTF-8 cannot express', 's', { target: '\ud800' }, 'OPTIONS_INVALID'],
    ['arguments without JSON', 's', { args: [1n] }, 'PROTOCOL_LOCAL'],
    ['too many bytes', 's', { args: ['x'.repeat(70_000)] }, 'PROTOCOL_LOCAL'],
  ])('is refused before sending: %s', async (_, service, options, code) => {
    const stage = new Stage();
    const client = stage.client({ maxMessageBytes: 70_000 });
    await expect(stage.settle(client.run(service, 't', options))).rejects.toMatchObject({ code });
    expect(client.stats().connections).toBe(0);
  });

  it.each(['NFPB01', 'NFPC01', 'NFPW01'] as const)('rule 1: reads messages under header %s', async (header) => {
    const stage = new Stage();
    await stage.broker(doing('w1'), A, A, header);
    expect(Object.keys(await stage.settle(stage.client().run('sample', 't')))).toEqual(['w1']);
  });

  it('rule 1: is known by its name, and writes commands in the configured form', async () => {
    const stage = new Stage();
    const broker = await stage.broker();
    await stage.settle(stage.client({ name: 'cli-1', commandForm: 'byte' }).run('sample', 't'));
    const [{ peer, command }] = broker.asked as [Asked];
    expect([latin1(peer.id), command.form]).toEqual(['cli-1', 'byte']);
  });
});

describe('post', () => {
  it('rule 7: events and results come one by one', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      doing('w1')(asked);
      if (asked.kind !== 'post') return;
      asked.event('w1', 'starting');
      asked.event('w1', 'half way', { severity: 'WARNING' });
    });
    const job = await stage.settle(stage.client().post('sample', 't'));
    const [events, results] = await stage.settle(Promise.all([all(job.events()), all(job.results())]));
    expect(events.map(({ worker, message, severity }) => [worker, message, severity])).toEqual([
      ['w1', 'starting', 'INFO'],
      ['w1', 'half way', 'WARNING'],
    ]);
    expect(results.map(({ result }) => result)).toEqual(['done by w1']);
    expect(await job.dispatched).toEqual(['w1']);
    expect((await all(job.results())).length).toBe(1);
  });

  it('rule 10: the oldest events without a reader are dropped and counted', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      doing('w1')(asked);
      for (let i = 0; asked.kind === 'post' && i < 10; i++) asked.event('w1', `step ${i}`);
    });
    const job = await stage.settle(stage.client({ eventsMax: 3 }).post('sample', 't'));
    await stage.settle(job.done());
    expect((await all(job.events())).map(({ message }) => message)).toEqual(['step 7', 'step 8', 'step 9']);
    expect(job.droppedEvents).toBe(7);
  });

  it('rule 7: chunks that workers stream come in order', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      doing('w1')(asked);
      for (let i = 0; asked.kind === 'post' && i < 5; i++) asked.stream(Buffer.from([i]));
    });
    const chunks: number[] = [];
    await stage.settle(stage.client().run('sample', 't', { onStream: ([chunk]) => void chunks.push(chunk![0]!) }));
    expect(chunks).toEqual([0, 1, 2, 3, 4]);
  });

  it('rule 7: a worker that waits for input gets the handler’s answer, once', async () => {
    const stage = new Stage();
    const requests: NfpInputRequest[] = [];
    const input_request = { id: 'i1', question: 'continue?', default: false, timeout: 20, metadata: {} };
    const broker = await stage.broker((asked) => {
      const told = broker.heard.some((said) => said.startsWith('put'));
      if (asked.kind === 'put') return;
      asked.dispatch('w1');
      if (asked.kind === 'get' && !told) asked.say('w1', 102, 'WAITING_CLIENT_INPUT', { input_request });
      else if (asked.kind === 'get') asked.result('w1', 'went on');
    });
    const onInput = (request: NfpInputRequest) => {
      requests.push(request);
      return true;
    };
    await stage.settle(stage.client({ onInput }).run('sample', 't'));
    expect(requests).toMatchObject([{ worker: 'w1', id: 'i1', question: 'continue?', default: false }]);
    const put = broker.asked.find(({ kind }) => kind === 'put')!;
    expect(put.call.target).toBe('["w1"]');
    expect(put.body).toEqual({ input_id: 'i1', value: true, cancel: false, metadata: {} });
  });

  it('rule 5: an abort deletes the job at its workers, and ends it here with the signal’s reason', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => asked.dispatch('w1'));
    const client = stage.client();
    const controller = new AbortController();
    const job = await stage.settle(client.post('sample', 't', { signal: controller.signal }));
    await stage.settle(job.dispatched);
    controller.abort('enough');
    await expect(stage.settle(job.done())).rejects.toBe('enough');
    await stage.advance(10_000);
    expect(broker.heard.at(-1)).toBe('delete ["w1"]');
    expect(client.stats()).toMatchObject({ jobs: 0, aborts: 1 });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('close fails what is open', async () => {
    const stage = new Stage();
    await stage.broker(silence);
    const client = stage.client();
    const job = await stage.settle(client.post('sample', 't'));
    const asked = client.showBroker();
    asked.catch(() => undefined);
    await stage.settle(client.close());
    await expect(job.done()).rejects.toMatchObject({ code: 'CLOSED' });
    await expect(asked).rejects.toMatchObject({ code: 'CLOSED' });
    await expect(client.run('sample', 't')).rejects.toMatchObject({ code: 'CLOSED' });
  });
});

describe('a connection', () => {
  it('rule 1: a broker that owes an answer for too long is left for the next one, and the job found there', async () => {
    const stage = new Stage();
    await stage.broker(silence);
    const second = await stage.broker((asked) => {
      asked.dispatch('w1');
      if (asked.kind === 'post') asked.say('w1', 201, 'ACCEPTED');
      else if (!second.heard.includes('post all')) asked.say('w1', 404, 'JOB NOT FOUND');
      else asked.result('w1', 1);
    }, B);
    const client = stage.client({ endpoints: [A, B] });
    expect(nfpResultsOrThrow(await stage.settle(client.run('sample', 't')))).toEqual({ w1: 1 });
    expect(second.heard).toEqual(['get all', 'post all', 'get ["w1"]']);
  });

  it('rule 4: after a loss the client asks for a job, and does not repost it if its worker knows it', async () => {
    const stage = new Stage();
    const first = await stage.broker((asked) => {
      asked.dispatch('w1');
      asked.say('w1', 201, 'ACCEPTED');
    });
    const client = stage.client();
    const job = await stage.settle(client.post('sample', 't', { target: 'any' }));
    await stage.settle(job.dispatched);
    await stage.settle(first.close());
    const second = await stage.broker();
    expect(nfpResultsOrThrow(await stage.settle(job.done()))).toEqual({ w1: 'done by w1' });
    expect(second.heard).toEqual(['get ["w1"]']);
    expect(client.stats().reposts).toBe(0);
  });

  it('rule 4: while its workers are away, 400 to GET is not final', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      if (asked.kind === 'post') asked.dispatch('w1');
      else if (broker.asked.length < 5) asked.refuse('no worker');
      else doing('w1')(asked);
    });
    expect(Object.keys(await stage.settle(stage.client().run('sample', 't')))).toEqual(['w1']);
  });

  it('rule 4: a job for any that goes to another worker is requested there', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      if (asked.kind === 'post') {
        asked.dispatch('w1');
        asked.dispatch('w2');
      } else doing('w1', 'w2')(asked);
    });
    const results = await stage.settle(stage.client().run('sample', 't', { target: 'any' }));
    expect(Object.keys(results)).toEqual(['w2']);
    expect(broker.heard).toEqual(['post any', 'get ["w2"]']);
  });

  it('rule 4: even if its worker had accepted it, and clients that ask at the old worker are told', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      if (asked.kind === 'post') {
        asked.dispatch('w1');
        asked.say('w1', 201, 'ACCEPTED');
      } else if (broker.asked.length === 2) asked.dispatch('w2');
      else doing('w1', 'w2')(asked);
    });
    const results = await stage.settle(stage.client().run('sample', 't', { target: 'any' }));
    expect(Object.keys(results)).toEqual(['w2']);
    expect(broker.heard).toEqual(['post any', 'get ["w1"]', 'get ["w2"]']);
  });

  it('rule 3: 408 for a lost worker is its last word', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      if (asked.kind === 'post') asked.dispatch('w1', 'w2');
      else asked.result('w1', 'done');
      if (asked.kind === 'post') asked.say('w2', 408, 'FAILED', { errors: ['w2 was lost'] });
    });
    const job = await stage.settle(stage.client().post('sample', 't'));
    const results = await stage.settle(job.done());
    expect(results).toMatchObject({ w1: { status: 200 }, w2: { status: 408, failed: true, errors: ['w2 was lost'] } });
    expect(stage.network.clock.now()).toBeLessThan(2000);
  });

  it('rule 3: names in a list that the broker does not know are 400, in its words', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      const { uuid, target, service } = asked.call;
      const errors = ['w9: never heard of it'];
      if (asked.kind === 'post')
        asked.answer(202, { workers: ['w1'], uuid, target, status: 'DISPATCHED', service, errors });
      else doing('w1')(asked);
    });
    const job = await stage.settle(stage.client().post('sample', 't', { target: ['w1', 'w9'] }));
    expect(await stage.settle(job.done())).toMatchObject({
      w1: { status: 200 },
      w9: { status: 400, failed: true, errors: ['w9: never heard of it'] },
    });
  });

  it('rule 2: a POST without an answer is queried, and 300 means that it waits', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      const { uuid, service } = asked.call;
      const said = { workers: [], uuid, target: asked.call.target, status: 'PENDING', service };
      if (asked.kind === 'get' && broker.asked.length < 5) asked.answer(300, said);
      else if (asked.kind === 'get' && asked.call.target === 'any') asked.dispatch('w1');
      else if (asked.kind === 'get') doing('w1')(asked);
    });
    const client = stage.client();
    expect(Object.keys(await stage.settle(client.run('sample', 't', { target: 'any' })))).toEqual(['w1']);
    expect(broker.heard).toEqual(['post any', 'get all', 'get any', 'get any', 'get any', 'get ["w1"]']);
    expect(client.stats().connections).toBe(1);
  });

  it('rule 1: with sendOpen nothing is sent before the broker’s OPEN', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      if (asked.kind === 'open') asked.open();
      else doing('w1')(asked);
    });
    await stage.settle(stage.client({ sendOpen: true }).run('sample', 't'));
    expect(broker.heard.slice(0, 2)).toEqual(['open', 'post all']);
    expect(broker.asked[0]!.body).toMatchObject({ keepalive: { interval: 2500, multiplier: 6 } });
  });

  it('rule 1: a broker that does not answer OPEN gets requests after openTimeoutMs', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      if (asked.kind !== 'open') doing('w1')(asked);
    });
    await stage.settle(stage.client({ sendOpen: true, openTimeoutMs: 700 }).run('sample', 't'));
    expect(broker.heard.slice(0, 2)).toEqual(['open', 'post all']);
  });

  it('opens nothing before the first call, and refuses inconsistent options', () => {
    expect(() => new NfpClient({ endpoints: [] })).toThrow('NfpClient');
    expect(new Stage().client().stats().connections).toBe(0);
  });
});
