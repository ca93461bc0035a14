import { encodeNfpJson } from '@proj/frames/nfp';
import { describe, expect, it } from 'vitest';
import { JobSessionRig, WALL_MS } from '../../../test/nfp/session-rig.js';

const heard = (rig: JobSessionRig) =>
  rig.on({
    kind: 'message',
    socket: rig.socket,
    command: { kind: 'broker-keepalive', form: 'ascii', header: 'NFPB01', service: 'math' },
  });

const told = (rig: JobSessionRig) =>
  rig.on({
    kind: 'message',
    socket: rig.socket,
    command: { kind: 'broker-disconnect', form: 'ascii', header: 'NFPB01', service: 'math', body: [] },
  });

const opened = (rig: JobSessionRig, body: unknown) =>
  rig.on({
    kind: 'message',
    socket: rig.socket,
    command: { kind: 'broker-open', form: 'ascii', header: 'NFPB01', body: encodeNfpJson(body) },
  });

describe('the connection', () => {
  it('rule 1: starts with OPEN and READY at once, or with READY alone', () => {
    expect(new JobSessionRig().start().sent).toEqual(['worker-open', 'worker-ready']);
    expect(new JobSessionRig({ sendOpen: false }).start().sent).toEqual(['worker-ready']);
  });

  it('rule 1: follows the terms in the answer to OPEN, within bounds, until the next conversation', () => {
    const rig = new JobSessionRig().start();
    opened(rig, { name: 'b', version: '1', keepalive: { interval: 10, multiplier: 99 } });
    rig.take();
    rig.wait(1000);
    expect(rig.sent).toHaveLength(10);
    rig.wait(1000);
    expect(rig.notes('lost')).toMatchObject([{ reason: 'silent' }]);
    rig.wait(100).take();
    rig.wait(2000);
    expect(rig.sent).toHaveLength(2);
  });

  it('rule 1: an OPEN that says nothing changes nothing', () => {
    const rig = new JobSessionRig().start();
    opened(rig, {});
    rig.take();
    expect(rig.wait(2999).sent).toEqual(['worker-keepalive', 'worker-keepalive']);
  });

  it('rule 2: a KEEPALIVE is sent every interval, whatever else is sent', () => {
    const rig = new JobSessionRig().start();
    rig.take();
    for (let second = 0; second < 4; second++) {
      heard(rig.wait(500).post(`u${second}`));
      rig.wait(500);
    }
    expect(rig.sent.filter((kind) => kind === 'worker-keepalive')).toHaveLength(4);
  });

  it('rule 3: a silent broker gets DISCONNECT, and others are tried with growing delays', () => {
    const rig = new JobSessionRig().start();
    rig.take();
    rig.wait(3000);
    expect(rig.sent).toEqual(['worker-keepalive', 'worker-keepalive', 'worker-disconnect']);
    expect(rig.all('close')).toMatchObject([{ socket: 1, flush: true }]);
    expect(rig.notes('lost')).toEqual([{ code: 'lost', endpoint: 'tcp://a:1', reason: 'silent', retryInMs: 100 }]);
    rig.wait(3100 + 3200);
    expect(rig.notes('lost').map(({ endpoint, retryInMs }) => [endpoint, retryInMs])).toEqual([
      ['tcp://a:1', 100],
      ['tcp://b:1', 200],
      ['tcp://a:1', 400],
    ]);
  });

  it('rule 3: DISCONNECT of the broker ends the conversation without an answer', () => {
    const rig = new JobSessionRig().start();
    rig.take();
    told(rig);
    expect(rig.sent).toEqual([]);
    expect(rig.all('close')).toMatchObject([{ flush: false }]);
    expect(rig.wait(100).sent).toEqual(['worker-open', 'worker-ready']);
  });

  it('rule 3: jobs in hand continue, and their results can be fetched over the next conversation', () => {
    const rig = new JobSessionRig().start().post('u1');
    told(rig);
    rig.done('u1').wait(100).say('get', 'u1', {}, 'c2');
    expect(rig.all('abort')).toEqual([]);
    expect(rig.said.at(-1)).toMatchObject({ to: 'c2', status: 200, body: { 'math-1': { result: 3 } } });
    expect(rig.notes('unsent')).toHaveLength(1);
  });

  it('messages of an old socket, and malformed ones, change nothing', () => {
    const rig = new JobSessionRig().start();
    told(rig).wait(100).take();
    rig.on({ kind: 'lost', socket: 1, reason: 'peer-gone' });
    rig.on({ kind: 'rejected', socket: 2, reason: 'too-large' });
    rig.on({
      kind: 'message',
      socket: 2,
      command: { kind: 'malformed', reason: 'shape', side: 'unknown' },
    });
    expect(rig.take().map((effect) => effect.kind)).toEqual(['note', 'note']);
  });
});

describe('a job', () => {
  it('rule 4: is accepted when it is on disk, and not before', () => {
    const rig = new JobSessionRig().start();
    rig.commits = false;
    rig.post('u1');
    expect(rig.said).toEqual([]);
    rig.write(rig.all('commit')[0]!);
    expect(rig.said[0]).toEqual({
      command: 'response',
      to: 'c1',
      uuid: 'u1',
      status: 201,
      body: { worker: 'math-1', uuid: 'u1', status: 'ACCEPTED', service: 'math' },
    });
    expect([...rig.records.keys()]).toEqual(['job/u1', 'call/u1']);
  });

  it('rule 4: is accepted with 202 in dialect legacy', () => {
    expect(new JobSessionRig({ dialect: 'legacy' }).start().post('u1').answers('u1')).toEqual(['202 ACCEPTED']);
  });

  it('rule 4: makes calls about it wait meanwhile: sixteen per job, and 64 MiB for all jobs besides the first', () => {
    const rig = new JobSessionRig({ maxMessageBytes: 67_108_864 }).start();
    rig.commits = false;
    rig.post('u1').post('u2');
    for (let n = 0; n < 17; n++) rig.say('get', 'u1');
    expect(rig.answers('u1')).toEqual(['500 FAILED']);
    const large = (bytes: number) => ({ task: 'add', args: ['x'.repeat(bytes)] });
    rig.post('u2', large(40_000_000)).post('u2', large(30_000_000)).post('u2', large(20_000_000));
    expect(rig.answers('u2')).toEqual(['500 FAILED']);
    rig.commits = true;
    rig.write(rig.all('commit')[0]!);
    expect(rig.answers('u1')).toEqual(['500 FAILED', '201 ACCEPTED', ...Array<string>(16).fill('300 STARTED')]);
    expect(rig.answers('u2').slice(1)).toEqual(['201 ACCEPTED', '400 FAILED', '400 FAILED']);
    // All of it is free again.
    rig.commits = false;
    rig.post('u3').post('u3', large(60_000_000)).post('u3', large(1_000_000));
    expect(rig.answers('u3')).toEqual([]);
  });

  it('rule 10: with more than a million values is not a call', () => {
    const rig = new JobSessionRig({ maxMessageBytes: 67_108_864 }).start();
    rig.say('post', 'u1', `{"task":"add","args":[${'[],'.repeat(600_000)}1]}`);
    expect(rig.answers('u1')).toEqual(['500 FAILED']);
    rig.say('post', 'u2', { task: 'add', args: [','.repeat(2_000_000)] });
    expect(rig.answers('u2')).toEqual(['201 ACCEPTED']);
  });

  it('rule 4: many are accepted with one commit', () => {
    const rig = new JobSessionRig({ maxPendingJobs: 100 }).start();
    rig.commits = false;
    for (let n = 0; n < 50; n++) rig.post(`u${n}`);
    expect(rig.all('commit')).toHaveLength(1);
    rig.write(rig.all('commit')[0]!);
    expect(rig.all('commit')).toHaveLength(2);
    rig.write(rig.all('commit')[1]!);
    expect(rig.notes('job-accepted')).toHaveLength(50);
  });

  it('runs with its call, reports starting and completed, and keeps its result', () => {
    const rig = new JobSessionRig().start().post('u1').done('u1');
    expect(rig.all('run')).toMatchObject([
      { uuid: 'u1', task: 'add', attempt: 1, timeoutMs: 60_000, call: { args: [1, 2], kwargs: {} } },
    ]);
    expect(rig.events('u1')).toEqual(['starting', 'completed']);
    expect(rig.said[1]?.body).toEqual({
      worker: 'math-1',
      service: 'math',
      uuid: 'u1',
      event_type: 'progress',
      message: 'starting',
      task: 'add',
      status: 'running',
      resource: [],
      severity: 'INFO',
      timestamp: '20-Nov-2026 18:37:49.200',
    });
    rig.wait(61_000).say('get', 'u1').say('delete', 'u1');
    expect(rig.result('u1')).toBeUndefined();
    const again = new JobSessionRig().start().post('u1').done('u1').say('get', 'u1');
    expect(again.said.at(-1)?.body).toEqual({
      'math-1': {
        result: 3,
        failed: false,
        errors: [],
        task: 'math-1:add',
        messages: [],
        juuid: 'u1',
        resources: [],
        status: 'completed',
        task_started: 'Fri Nov 20 18:37:49 2026',
        task_completed: 'Fri Nov 20 18:37:49 2026',
        service: 'math',
        diff: null,
        dry_run: false,
      },
    });
  });

  it('rule 5: runs as one of concurrency, the others in the order of acceptance', () => {
    const rig = new JobSessionRig().start();
    for (const uuid of ['u1', 'u2', 'u3', 'u4']) rig.post(uuid);
    expect(rig.all('run').map(({ uuid }) => uuid)).toEqual(['u1', 'u2']);
    rig.done('u2').done('u1');
    expect(rig.all('run').map(({ uuid }) => uuid)).toEqual(['u1', 'u2', 'u3', 'u4']);
    // Waiting jobs are only on disk.
    expect(rig.all('run')[3]).toMatchObject({ uuid: 'u4', call: undefined });
  });

  it('rule 5: does not start before one that was accepted earlier, whatever is free when it comes', () => {
    const rig = new JobSessionRig().start().post('u1').post('u2');
    rig.commits = false;
    rig.post('u3');
    const accepting = rig.all('commit').at(-1)!;
    rig.done('u1').post('u4');
    rig.commits = true;
    rig.write(accepting);
    expect(rig.all('run').map(({ uuid }) => uuid)).toEqual(['u1', 'u2', 'u3']);
  });

  it('rule 5: over maxPendingJobs is refused with 500, and not kept', () => {
    const rig = new JobSessionRig().start();
    for (const uuid of ['u1', 'u2', 'u3', 'u4', 'u5', 'u6']) rig.post(uuid);
    expect(rig.said.at(-1)).toMatchObject({ uuid: 'u6', status: 500, body: { errors: ['3 jobs are waiting'] } });
    expect(rig.records.has('job/u6')).toBe(false);
    rig.done('u1').post('u6');
    expect(rig.answers('u6')).toEqual(['500 FAILED', '201 ACCEPTED']);
  });

  it('rule 9: that fails is a result, too', () => {
    const rig = new JobSessionRig().start().post('u1').failed('u1', 'no such host');
    expect(rig.result('u1')).toMatchObject({ result: null, failed: true, errors: ['no such host'], status: 'failed' });
    expect(rig.said.at(-1)).toMatchObject({ command: 'event', body: { message: 'completed', status: 'failed' } });
  });

  it('rule 9: whose result is over the limit has failed', () => {
    const rig = new JobSessionRig()
      .start()
      .post('u1')
      .done('u1', JSON.stringify('x'.repeat(70_000)));
    expect(rig.result('u1')?.['errors']).toEqual([
      expect.stringMatching(/^result of 7\d{4} bytes: the limit is 64512$/),
    ]);
  });

  it.each([
    ['no JSON', '{', 'body is not a JSON object, or too large a one'],
    ['a list', '[]', 'body is not a JSON object, or too large a one'],
    ['without task', '{}', 'task is not a text'],
    ['with kwargs that are a list', '{"task":"add","kwargs":[]}', 'kwargs is not an object'],
    ['with args that are an object', '{"task":"add","args":{}}', 'args is not an array'],
  ])('rule 10: whose body is %s is refused with 500 and not kept', (_, body, error) => {
    const rig = new JobSessionRig().start().say('post', 'u1', body);
    expect(rig.said).toMatchObject([{ status: 500, body: { errors: [error] } }]);
    expect(rig.records.size).toBe(0);
  });

  it('rule 10: whose body is nested without end is refused', () => {
    const rig = new JobSessionRig({ maxMessageBytes: 1_000_000 }).start();
    const deep = `{"task":"add","args":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    rig.say('post', 'u1', deep);
    expect(rig.said).toMatchObject([{ status: 500 }]);
  });

  it('in the form of the tables is answered in that form', () => {
    const rig = new JobSessionRig().start().sayTable('post', 'u1', { task: 'add' }).done('u1').sayTable('get', 'u1');
    expect(rig.said.map(({ to, command, status }) => `${to} ${command} ${status}`)).toEqual([
      'table:math response 201',
      'table:math event 200',
      'table:math event 200',
      'table:math response 200',
    ]);
  });
});

describe('a job posted again', () => {
  it('rule 6: is accepted again, not run again, and its events go to the newer client', () => {
    const rig = new JobSessionRig()
      .start()
      .post('u1')
      .post('u1', { args: [1, 2], kwargs: {}, task: 'add', timeout: 5 }, 'c2');
    expect(rig.said.at(-1)).toMatchObject({ to: 'c2', status: 201, body: { state: 'STARTED', duplicate: true } });
    rig.done('u1');
    expect(rig.all('run')).toHaveLength(1);
    expect(rig.said.at(-1)).toMatchObject({ to: 'c2', command: 'event' });
    rig.post('u1');
    expect(rig.said.at(-1)).toMatchObject({ status: 201, body: { state: 'COMPLETED', duplicate: true } });
  });

  it('rule 6: with another body is refused with 400', () => {
    const rig = new JobSessionRig()
      .start()
      .post('u1')
      .post('u1', { task: 'add', args: [1, 3] });
    expect(rig.said.at(-1)).toMatchObject({ status: 400, body: { errors: ['uuid is in use for another call'] } });
  });

  it('rule 6: before it is on disk is answered after the first one', () => {
    const rig = new JobSessionRig().start();
    rig.commits = false;
    rig.post('u1').post('u1').say('get', 'u1');
    rig.write(rig.all('commit')[0]!);
    expect(rig.answers('u1')).toEqual(['201 ACCEPTED', '201 ACCEPTED', '300 STARTED']);
  });
});

describe('GET', () => {
  it('rule 7: says 300 while a job waits or runs, then its result, to any client', () => {
    const rig = new JobSessionRig({ concurrency: 1 }).start().post('u1').post('u2');
    rig.say('get', 'u1').say('get', 'u2');
    rig.done('u1').say('get', 'u1', {}, 'c9');
    expect(rig.answers('u1')).toEqual(['201 ACCEPTED', '300 STARTED', '200 result']);
    expect(rig.answers('u2')).toEqual(['201 ACCEPTED', '300 PENDING']);
    expect(rig.said.at(-1)?.to).toBe('c9');
  });

  it('rule 7: of an unknown uuid is answered with 404', () => {
    const rig = new JobSessionRig().start().say('get', 'u9').say('delete', 'u9');
    expect(rig.answers('u9')).toEqual(['404 JOB NOT FOUND', '404 JOB NOT FOUND']);
  });

  it('rule 7: of a result that the disk does not return is answered with 500', () => {
    const rig = new JobSessionRig().start().post('u1').done('u1');
    const effects = rig.session.step({ kind: 'message', socket: 1, command: { ...callOf('get', 'u1') } }, rig.now);
    const load = effects.find((effect) => effect.kind === 'load')!;
    rig.on({ kind: 'load-failed', load: load.load });
    expect(rig.said.at(-1)).toMatchObject({ status: 500, body: { errors: ['store cannot be read'] } });
  });
});

function callOf(command: 'get', uuid: string) {
  const client = Buffer.from('c1');
  return {
    kind: 'worker-call',
    form: 'ascii',
    header: 'NFPB01',
    command,
    client,
    uuid,
    body: [Buffer.from('{}')],
  } as const;
}

describe('DELETE', () => {
  it('rule 8: removes the job from the queue', () => {
    const rig = new JobSessionRig({ concurrency: 1 }).start().post('u1').post('u2').say('delete', 'u2').done('u1');
    expect(rig.answers('u2')).toEqual(['201 ACCEPTED', '200 CANCELLED']);
    expect(rig.all('run')).toHaveLength(1);
    expect(rig.result('u2')).toMatchObject({ failed: true, status: 'cancelled', task_started: null });
    rig.say('get', 'u2');
    expect(rig.answers('u2').at(-1)).toBe('200 result');
  });

  it('rule 8: tells a running task to stop, and its result is cancelled whatever it is', () => {
    const rig = new JobSessionRig().start().post('u1').say('delete', 'u1').say('delete', 'u1');
    expect(rig.all('abort')).toMatchObject([{ reason: 'deleted' }]);
    expect(rig.answers('u1')).toEqual(['201 ACCEPTED', '200 CANCELLING', '200 CANCELLING']);
    rig.done('u1');
    expect(rig.result('u1')).toMatchObject({ status: 'cancelled', result: null });
  });

  it('rule 8: removes the result of a finished job', () => {
    const rig = new JobSessionRig().start().post('u1').done('u1').say('delete', 'u1').say('get', 'u1');
    expect(rig.answers('u1')).toEqual(['201 ACCEPTED', '200 DELETED', '404 JOB NOT FOUND']);
    expect(rig.records.size).toBe(0);
  });

  it('rule 8: of a running job outlives a crash', () => {
    const rig = new JobSessionRig().start().post('u1').say('delete', 'u1');
    const next = new JobSessionRig({}, rig.records).start();
    expect(next.all('run')).toEqual([]);
    expect(next.result('u1')).toMatchObject({ status: 'cancelled' });
  });
});

describe('a running task', () => {
  it('rule 9: streams to the client that posted it', () => {
    const rig = new JobSessionRig().start().post('u1');
    rig.on({ kind: 'stream', run: rig.runOf('u1'), chunk: Buffer.from('bytes') });
    expect(rig.said.at(-1)).toEqual({ command: 'stream', to: 'c1', uuid: 'u1', status: 200, body: 'bytes' });
  });

  it('rule 9: gets what clients PUT; without a run it is dropped', () => {
    const rig = new JobSessionRig()
      .start()
      .post('u1')
      .say('put', 'u1', { offset: 7 })
      .done('u1')
      .say('put', 'u1')
      .say('put', 'u9');
    expect(rig.all('put').map(({ body }) => Buffer.concat(body).toString())).toEqual(['{"offset":7}']);
    expect(rig.notes('message-dropped')).toHaveLength(2);
  });

  it('rule 9: asks its client, which is told by an event and by 102, and answers by PUT', () => {
    const rig = new JobSessionRig().start().post('u1');
    const question = { id: 'q1', question: 'go on?', default: false, timeoutMs: 20_000, metadata: {} };
    const run = rig.runOf('u1');
    rig.on({ kind: 'ask', run, question }).say('get', 'u1').say('put', 'u1', { input_id: 'q0', value: 1 });
    const asked = { id: 'q1', question: 'go on?', default: false, timeout: 20, metadata: {} };
    expect(rig.said.at(-2)?.body).toMatchObject({
      event_type: 'input_request',
      extras: { input_request: asked },
      timeout: 20,
    });
    expect(rig.said.at(-1)).toMatchObject({
      status: 102,
      body: { status: 'WAITING_CLIENT_INPUT', input_request: asked },
    });
    expect(rig.all('input')).toEqual([]);
    rig.say('put', 'u1', { input_id: 'q1', value: true }).say('get', 'u1');
    expect(rig.all('input')).toEqual([{ kind: 'input', run, id: 'q1', outcome: { kind: 'answered', value: true } }]);
    expect(rig.answers('u1').at(-1)).toBe('300 STARTED');
  });

  it('rule 9: learns that the client does not answer, or refuses', () => {
    const rig = new JobSessionRig().start().post('u1').post('u2');
    const question = { id: 'q', question: 'go on?', default: null, timeoutMs: 500, metadata: {} };
    for (const uuid of ['u1', 'u2']) rig.on({ kind: 'ask', run: rig.runOf(uuid), question });
    rig.say('put', 'u2', { input_id: 'q', cancel: true }).wait(500);
    expect(rig.all('input').map(({ outcome }) => outcome.kind)).toEqual(['refused', 'timeout']);
  });
});

describe('the disk', () => {
  it('rule 11: that is read-only refuses new jobs and loses no accepted ones', () => {
    const rig = new JobSessionRig({ concurrency: 1 }).start().post('u1').post('u2');
    rig.commits = false;
    rig.take();
    rig.post('u3');
    rig.effects.push({
      kind: 'run',
      run: 1,
      uuid: 'u1',
      task: 'add',
      replyTo: undefined,
      timeoutMs: 1,
      attempt: 1,
      call: undefined,
    });
    rig.done('u1').fail(rig.all('commit')[0]!);
    expect(rig.answers('u3')).toEqual(['500 FAILED']);
    rig.post('u4').say('get', 'u1');
    expect(rig.answers('u4')).toEqual(['500 FAILED']);
    expect(rig.answers('u1')).toEqual(['300 STARTED']);
    rig.commits = true;
    rig.wait(1000).say('get', 'u1');
    expect(rig.answers('u1').at(-1)).toBe('200 result');
    expect(rig.all('run').at(-1)).toMatchObject({ uuid: 'u2', attempt: 1 });
  });

  it('rule 11: that fails when a job is to start leaves the job in its place', () => {
    const rig = new JobSessionRig({ concurrency: 1 }).start().post('u1').post('u2').post('u3');
    rig.commits = false;
    rig.done('u1');
    rig.fail(rig.all('commit').at(-1)!);
    rig.commits = true;
    rig.wait(1000).done('u2');
    expect(rig.all('run').map(({ uuid, attempt }) => [uuid, attempt])).toEqual([
      ['u1', 1],
      ['u2', 1],
      ['u3', 1],
    ]);
  });
});

describe('after a crash', () => {
  const crashed = () => {
    const rig = new JobSessionRig({ concurrency: 1 }).start().post('u1').post('u2').post('u3').done('u1');
    return rig.records;
  };

  it('rule 12: started jobs run again, and waiting ones continue in order', () => {
    const rig = new JobSessionRig({ concurrency: 1 }, crashed()).start();
    rig.done('u2').done('u3');
    expect(rig.all('run').map(({ uuid, attempt }) => [uuid, attempt])).toEqual([
      ['u2', 2],
      ['u3', 1],
    ]);
    rig.say('get', 'u1');
    expect(rig.answers('u1')).toEqual(['200 result']);
  });

  it('rule 12: started jobs fail with crashPolicy fail', () => {
    const rig = new JobSessionRig({ crashPolicy: 'fail' }, crashed()).start();
    expect(rig.result('u2')).toMatchObject({ failed: true, errors: ['interrupted'] });
    expect(rig.all('run').map(({ uuid }) => uuid)).toEqual(['u3']);
  });

  it('rule 12: a job that has been started maxRuns times fails', () => {
    const { records } = new JobSessionRig().start().post('u1');
    for (let crash = 0; crash < 2; crash++) expect(new JobSessionRig({}, records).start().all('run')).toHaveLength(1);
    const last = new JobSessionRig({}, records).start();
    expect(last.all('run')).toEqual([]);
    expect(last.result('u1')).toMatchObject({ errors: ['interrupted'], status: 'failed' });
  });

  it('rule 6: a job posted again is still known', () => {
    const rig = new JobSessionRig({}, crashed()).start().post('u1');
    expect(rig.said.at(-1)).toMatchObject({ status: 201, body: { state: 'COMPLETED', duplicate: true } });
  });
});

describe('results', () => {
  it('rule 13: leave after resultTtlMs with everything that belongs to them', () => {
    const rig = new JobSessionRig().start().post('u1').done('u1');
    for (let n = 0; n < 10; n++) heard(rig.wait(999));
    rig.say('get', 'u1');
    expect(rig.answers('u1').at(-1)).toBe('200 result');
    heard(rig.wait(10)).say('get', 'u1');
    expect(rig.answers('u1').at(-1)).toBe('404 JOB NOT FOUND');
    expect(rig.records.size).toBe(0);
  });

  it('rule 13: leave at their time after a restart, too', () => {
    const { records } = new JobSessionRig().start().post('u1').done('u1');
    const rig = new JobSessionRig({}, records);
    rig.now = 9000;
    heard(rig.start().wait(999));
    expect(rig.records.size).toBeGreaterThan(0);
    rig.wait(1);
    expect(rig.records.size).toBe(0);
  });

  it('rule 13: stay for ever with resultTtlMs 0', () => {
    const rig = new JobSessionRig({ resultTtlMs: 0, keepaliveIntervalMs: 600_000 }).start().post('u1').done('u1');
    rig.wait(1e9);
    expect(rig.result('u1')).toBeDefined();
  });

  it('rule 13: leave before their time if there are more than resultsMax, oldest first', () => {
    const rig = new JobSessionRig().start();
    for (let n = 0; n < 7; n++) rig.post(`u${n}`).done(`u${n}`);
    expect(['u0', 'u1', 'u2'].map((uuid) => rig.records.has(`result/${uuid}`))).toEqual([false, false, true]);
    expect(rig.notes('results-removed')).toHaveLength(2);
  });

  it('rule 13: leave a thousand per commit', () => {
    const rig = new JobSessionRig({ resultsMax: 3000, maxPendingJobs: 3000, keepaliveIntervalMs: 600_000 }).start();
    rig.checks = false;
    for (let n = 0; n < 2500; n++) rig.post(`u${n}`).done(`u${n}`);
    rig.session.assertInvariants();
    rig.take();
    rig.wait(10_300);
    expect(rig.all('commit').map(({ batch }) => batch.removes?.length)).toEqual([4000, 4000, 2000]);
  });

  it('come with the last hundred events', () => {
    const rig = new JobSessionRig().start().post('u1');
    const run = rig.runOf('u1');
    for (let n = 0; n < 150; n++) rig.on({ kind: 'event', run, body: encodeNfpJson({ n }) });
    rig.done('u1');
    const events = JSON.parse(Buffer.from(rig.records.get('events/u1')!).toString()) as { n: number }[];
    expect(events).toHaveLength(100);
    expect([events[0], events[99]]).toEqual([{ n: 50 }, { n: 149 }]);
  });
});

describe('mmi.service.worker', () => {
  const ask = (rig: JobSessionRig, task: string) => rig.say('mmi', 'm1', { task }).said.at(-1)!;

  it('rule 15: shows the broker, the worker and the clients', () => {
    const rig = new JobSessionRig().start().post('u1').wait(1500);
    expect(ask(rig, 'show_broker')).toMatchObject({
      command: 'mmi',
      status: 200,
      body: { endpoint: 'tcp://a:1', state: 'connected', keepalives: { interval: 1000, multiplier: 3 } },
    });
    expect(ask(rig, 'show_workers').body).toMatchObject([
      { name: 'math-1', service: 'math', running: 1, jobs: { STARTED: 1 }, tasks: [{ name: 'add' }] },
    ]);
    expect(ask(rig, 'show_clients').body).toEqual([{ name: 'c1', 'alive (s)': '1', 'idle (s)': '1', jobs: 1 }]);
    expect(ask(rig, 'show_weather').body).toBe("Unsupported task 'show_weather'");
  });

  it('rule 15: shows the last hundred events of a job while it runs, when it has ended, and after a restart', () => {
    const rig = new JobSessionRig().start().post('u1');
    const run = rig.runOf('u1');
    const shown = (of: JobSessionRig, uuid: unknown = 'u1') =>
      of.say('mmi', 'm1', { task: 'show_events', kwargs: { uuid } });
    expect(shown(rig).said.at(-1)).toMatchObject({ command: 'mmi', status: 200, body: [{ message: 'starting' }] });
    for (let n = 0; n < 150; n++) rig.on({ kind: 'event', run, body: encodeNfpJson({ n }) });
    rig.done('u1');
    const last = Array.from({ length: 100 }, (_, n) => ({ n: n + 50 }));
    expect(shown(rig).said.at(-1)).toMatchObject({ command: 'mmi', uuid: 'm1', status: 200, body: last });
    expect(shown(new JobSessionRig({}, rig.records).start()).said.at(-1)).toMatchObject({ status: 200, body: last });
  });

  it('rule 15: says that it has no events for a job that waits, is unknown, or had too many', () => {
    const rig = new JobSessionRig({ concurrency: 1, maxMessageBytes: 4096 }).start().post('u1').post('u2');
    const shown = (uuid: unknown) => rig.say('mmi', 'm1', { task: 'show_events', kwargs: { uuid } }).said.at(-1);
    expect(shown('u2')).toMatchObject({ status: 200, body: [] });
    expect(shown('u3')).toMatchObject({ command: 'mmi', status: 404, body: { errors: ['job not found'] } });
    expect(shown(undefined)).toMatchObject({ status: 404 });
    rig.say('delete', 'u2');
    expect(shown('u2')).toMatchObject({ status: 200, body: [] });
    const text = encodeNfpJson({ text: 'x'.repeat(3000) });
    for (let n = 0; n < 2; n++) rig.on({ kind: 'event', run: rig.runOf('u1'), body: text });
    expect(shown('u1')).toMatchObject({ command: 'mmi', status: 500 });
  });

  it('rule 15: refuses commands unless they are allowed, and invalid tasks', () => {
    const rig = new JobSessionRig().start();
    for (const task of ['restart', 'shutdown', 'disconnect'])
      expect(ask(rig, task)).toMatchObject({
        status: 400,
        body: { errors: [`management command '${task}' is not enabled`] },
      });
    expect(rig.say('mmi', 'm1', '[]').said.at(-1)).toMatchObject({ status: 400 });
    expect(rig.all('close')).toEqual([]);
  });

  it.each(['restart', 'disconnect'])('rule 15: %s leaves and comes back', (task) => {
    const rig = new JobSessionRig({ managementCommands: true }).start();
    expect(ask(rig, task)).toMatchObject({ status: 200 });
    expect(rig.sent.at(-1)).toBe('worker-disconnect');
    expect(rig.wait(100).sent.slice(-2)).toEqual(['worker-open', 'worker-ready']);
  });

  const restarting = (options: object = {}) => {
    const rig = new JobSessionRig({ managementCommands: true, concurrency: 1, ...options });
    rig.restarts = false;
    return rig.start().post('u1').say('mmi', 'm1', { task: 'restart' });
  };

  it('rule 15: restart accepts and starts nothing until running tasks have ended, inventory and hook are renewed, and it is back', () => {
    const rig = restarting().post('u2');
    expect(rig.answers('u2')).toEqual(['201 ACCEPTED']);
    expect(ask(rig, 'show_workers')).toMatchObject({ body: [{ status: 'restarting', running: 1 }] });
    ask(rig, 'restart');
    expect(rig.all('restart')).toEqual([]);
    rig.done('u1');
    expect(rig.all('restart')).toHaveLength(1);
    expect(rig.result('u1')).toMatchObject({ failed: false });
    expect([rig.all('run').length, rig.all('close').length]).toEqual([1, 0]);
    rig.on({ kind: 'restarted' });
    expect(rig.notes('restarted')).toHaveLength(1);
    expect(rig.all('close')).toHaveLength(1);
    expect(rig.all('run').map(({ uuid }) => uuid)).toEqual(['u1', 'u2']);
    rig.done('u2').on({ kind: 'restarted' }).wait(100);
    expect([rig.all('close').length, rig.all('open').length, rig.all('restart').length]).toEqual([1, 2, 1]);
  });

  it('rule 15: restart tells tasks to stop after drainMs, and runs them again before waiting ones', () => {
    const rig = restarting({ keepaliveMultiplier: 20 }).post('u2').wait(5000);
    expect(rig.all('abort')).toMatchObject([{ reason: 'restart' }]);
    rig.failed('u1').on({ kind: 'restarted' });
    expect(rig.all('run')).toMatchObject([
      { uuid: 'u1', attempt: 1 },
      { uuid: 'u1', attempt: 2 },
    ]);
    expect(rig.done('u1').result('u1')).toMatchObject({ failed: false });
  });

  it.each([{ crashPolicy: 'fail' }, { maxRuns: 1 }])(
    'rule 15: with %j the tasks that restart had to stop have failed',
    (options) => {
      const rig = restarting({ keepaliveMultiplier: 20, ...options })
        .wait(5000)
        .failed('u1');
      expect(rig.result('u1')).toMatchObject({ failed: true, errors: ['interrupted'] });
    },
  );

  it('rule 15: restart does not wait for ever for a task that does not stop, whatever it returns later', () => {
    const rig = restarting({ keepaliveMultiplier: 20, concurrency: 2 }).wait(9999);
    expect(rig.all('restart')).toEqual([]);
    expect(rig.wait(1).all('restart')).toHaveLength(1);
    rig.on({ kind: 'restarted' }).wait(100).post('u2');
    expect(rig.done('u2').result('u2')).toMatchObject({ failed: false });
    rig.failed('u1');
    expect(rig.all('run').map(({ uuid }) => uuid)).toEqual(['u1', 'u2', 'u1']);
  });

  it('rule 15: a worker that is leaving does not restart', () => {
    const rig = restarting().on({ kind: 'drain' }).done('u1');
    expect([rig.all('restart').length, rig.all('ended').length]).toEqual([0, 1]);
  });

  it('rule 15: shutdown drains', () => {
    const rig = new JobSessionRig({ managementCommands: true }).start().post('u1');
    expect(ask(rig, 'shutdown')).toMatchObject({ body: 'shutting down' });
    expect(rig.all('ended')).toEqual([]);
    expect(rig.done('u1').all('ended')).toHaveLength(1);
  });
});

describe('leaving', () => {
  it('rule 14: a drain starts nothing, finishes running tasks, and sends DISCONNECT last', () => {
    const rig = new JobSessionRig({ concurrency: 1 }).start().post('u1').post('u2').on({ kind: 'drain' }).post('u3');
    expect(rig.answers('u3')).toEqual(['500 FAILED']);
    rig.done('u1');
    expect(rig.events('u1')).toEqual(['starting', 'completed']);
    expect(rig.sent.at(-1)).toBe('worker-disconnect');
    expect(rig.effects.at(-1)).toEqual({ kind: 'ended' });
    expect(new JobSessionRig({}, rig.records).start().all('run')).toMatchObject([{ uuid: 'u2', attempt: 1 }]);
  });

  it('rule 14: after drainMs running tasks are aborted and run again after the next start', () => {
    const rig = new JobSessionRig().start().post('u1').on({ kind: 'drain' });
    heard(rig.wait(2500));
    rig.wait(2500);
    expect(rig.all('abort')).toMatchObject([{ reason: 'drain-timeout' }]);
    rig.failed('u1', 'aborted');
    expect(rig.all('ended')).toHaveLength(1);
    expect(rig.notes('job-interrupted')).toHaveLength(1);
    expect(new JobSessionRig({}, rig.records).start().all('run')).toMatchObject([{ uuid: 'u1', attempt: 2 }]);
  });

  it('rule 14: a close aborts at once, and a result that still comes is kept', () => {
    const rig = new JobSessionRig().start().post('u1').post('u2').on({ kind: 'close' });
    expect(rig.all('abort')).toHaveLength(2);
    expect(rig.sent.at(-1)).toBe('worker-disconnect');
    rig.done('u1').failed('u2');
    expect(rig.all('ended')).toHaveLength(1);
    expect(rig.result('u1')).toMatchObject({ result: 3 });
    expect(rig.result('u2')).toBeUndefined();
  });

  it('rule 14: does not wait for a broken disk', () => {
    const rig = new JobSessionRig().start().post('u1');
    rig.commits = false;
    rig.done('u1').fail(rig.all('commit').at(-1)!).on({ kind: 'drain' });
    expect(rig.all('ended')).toHaveLength(1);
  });

  it('rule 14: before the start there is nothing to end', () => {
    expect(new JobSessionRig().on({ kind: 'close' }).effects).toEqual([{ kind: 'ended' }]);
    expect(new JobSessionRig().on({ kind: 'drain' }).effects).toEqual([{ kind: 'ended' }]);
  });
});

it('times use the Gregorian calendar', () => {
  const rig = new JobSessionRig().start();
  const days = ['2000-02-29', '2024-02-29', '2024-12-31', '2026-01-01', '2100-03-01', '2026-11-05'];
  for (const [n, day] of days.entries()) {
    rig.now = Date.parse(day) - WALL_MS;
    rig.post(`u${n}`);
    rig.done(`u${n}`);
  }
  const ended = days.map(
    (_, n) => (rig.said.findLast((said) => said.uuid === `u${n}`)!.body as { timestamp: string }).timestamp,
  );
  expect(ended.map((time) => time.slice(0, 11))).toEqual([
    '29-Feb-2000',
    '29-Feb-2024',
    '31-Dec-2024',
    '01-Jan-2026',
    '01-Mar-2100',
    '05-Nov-2026',
  ]);
});
