import { encodeNfpJson } from '@proj/frames/nfp';
import { describe, expect, it } from 'vitest';
import { JobSessionRig } from '../../../../test/nfp/session-rig.js';

const NO = {
  workers: null,
  uuid: 'q1',
  target: 'all',
  status: 'FAILED',
  service: 'sid.service.broker',
  errors: ['no such thing'],
};

describe('rule 17: a query to the broker', () => {
  it("is sent on the worker's connection, like a client's, and is answered once", () => {
    const rig = new JobSessionRig().start();
    rig.take();
    rig.ask('q1');
    expect(rig.all('send').map(({ command }) => command)).toMatchObject([
      { kind: 'client-call', command: 'mmi', service: 'sid.service.broker', target: 'all', uuid: 'q1' },
    ]);
    const [sent] = rig.all('send');
    expect(sent?.command).toMatchObject({
      body: encodeNfpJson({ task: 'get_inventory', kwargs: { name: 'math-1' }, args: [] }),
    });
    rig.answer('q1', 200, { a: 1 }).answer('q1', 200, { a: 1 }, 'mmi');
    expect(rig.replies).toEqual([['q1', { kind: 'answered', body: encodeNfpJson({ a: 1 }) }]]);
    expect(rig.notes('message-dropped')).toEqual([]);
  });

  it('is sent by GET in dialect legacy', () => {
    expect(new JobSessionRig({ dialect: 'legacy' }).start().ask('q1').asked).toEqual(['get q1']);
  });

  it('is refused in the words of the broker', () => {
    const rig = new JobSessionRig().start().ask('q1').ask('q2').answer('q1', 400, NO).answer('q2', 404, 'what?');
    expect(rig.replies).toEqual([
      ['q1', { kind: 'refused', error: 'no such thing' }],
      ['q2', { kind: 'refused', error: 'status 404' }],
    ]);
  });

  it('waits for a connection, and is repeated on the next one', () => {
    const rig = new JobSessionRig().start();
    rig.on({ kind: 'lost', socket: rig.socket, reason: 'peer-gone' }).take();
    expect(rig.ask('q1').asked).toEqual([]);
    expect(rig.wait(100).asked).toEqual(['mmi q1']);
    rig.on({ kind: 'lost', socket: rig.socket, reason: 'peer-gone' }).take();
    expect(rig.wait(400).asked).toEqual(['mmi q1']);
    expect(rig.answer('q1', 200, null).replies).toHaveLength(1);
  });

  it('is repeated after half a second if the broker was too busy', () => {
    const rig = new JobSessionRig().start().ask('q1').ask('q2').answer('q1', 500, NO);
    rig.take();
    expect(rig.wait(499).asked).toEqual([]);
    expect(rig.wait(1).asked).toEqual(['mmi q1']);
    expect(rig.replies).toEqual([]);
  });

  it('ends when its time is over, even without a broker', () => {
    const rig = new JobSessionRig().start();
    rig.on({ kind: 'lost', socket: rig.socket, reason: 'peer-gone' });
    rig.ask('q1', 700);
    expect(rig.wait(699).replies).toEqual([]);
    expect(rig.wait(1).replies).toEqual([['q1', { kind: 'timeout' }]]);
  });

  it('ends with the worker, and is not sent by one that leaves', () => {
    const rig = new JobSessionRig().start().post('u1').ask('q1');
    rig.on({ kind: 'close' });
    expect(rig.ask('q2').replies).toEqual([
      ['q1', { kind: 'closed' }],
      ['q2', { kind: 'closed' }],
    ]);
  });

  it('is one of a thousand at most', () => {
    const rig = new JobSessionRig().start();
    for (let count = 0; count <= 1000; count++) rig.ask(`q${count}`);
    expect(rig.replies).toEqual([['q1000', { kind: 'refused', error: '1000 questions are open' }]]);
  });

  it('ignores answers that are meant for others', () => {
    const rig = new JobSessionRig()
      .start()
      .ask('q1')
      .answer('q2', 200, 1)
      .answer('q1', 200, 1, 'event')
      .answer('q3', 200, 1, 'mmi');
    expect(rig.replies).toEqual([]);
    expect(rig.notes('message-dropped')).toMatchObject([{ reason: 'answer' }, { reason: 'answer' }]);
  });
});

/** What workers answer to a GET. */
function result(worker: string, more: object): object {
  return { [worker]: { result: null, failed: false, errors: [], ...more } };
}

const ALL = { target: 'all', awaits: 'result' } as const;
const CHUNK = { target: '["f1"]', awaits: 'chunk' } as const;
const NEXT = { ...CHUNK, put: { offset: 7 } } as const;
const SENT_TO = (...workers: string[]) => ({ ...NO, workers, status: 'DISPATCHED', errors: undefined });

describe('rule 17: a job for workers', () => {
  it('is posted, polled every half second, and answered by the first worker that has not failed', () => {
    const rig = new JobSessionRig().start();
    rig.take();
    rig
      .askJob('j1', ALL)
      .answer('j1', 202, SENT_TO('f1', 'f2'))
      .answer('j1', 201, { worker: 'f1', status: 'ACCEPTED' });
    expect(rig.all('send').map(({ command }) => command)).toMatchObject([
      { kind: 'client-call', command: 'post', service: 'filesharing', target: 'all', uuid: 'j1' },
    ]);
    expect(rig.wait(499).asked).toEqual(['post j1']);
    expect(rig.wait(501).asked).toEqual(['post j1', 'get j1', 'get j1']);
    rig.answer('j1', 200, result('f1', { failed: true, errors: ['no such file'] }));
    expect(rig.replies).toEqual([]);
    rig.answer('j1', 200, result('f2', { result: { size_bytes: 5 } }));
    expect(rig.replies).toEqual([['j1', { kind: 'result', worker: 'f2', value: { size_bytes: 5 } }]]);
    rig.take();
    expect(rig.wait(2000).asked).toEqual([]);
  });

  it('is polled at once when an event reports its end', () => {
    const rig = new JobSessionRig().start().askJob('j1', ALL).answer('j1', 202, SENT_TO('f1'));
    rig.answer('j1', 200, { status: 'running', message: 'starting' }, 'event');
    expect(rig.asked).toEqual(['post j1']);
    rig.answer('j1', 200, { status: 'completed', message: 'completed' }, 'event');
    expect(rig.asked).toEqual(['post j1', 'get j1']);
  });

  it('is refused if all of them have failed, in the words of the first', () => {
    const rig = new JobSessionRig().start().askJob('j1', ALL).answer('j1', 202, SENT_TO('f1', 'f2'));
    rig.answer('j1', 408, { worker: 'f2', uuid: 'j1', status: 'FAILED', service: 'filesharing', errors: ['lost'] });
    expect(rig.replies).toEqual([]);
    rig.answer('j1', 200, result('f1', { failed: true, errors: ['no such file', 'at all'] }));
    expect(rig.replies).toEqual([['j1', { kind: 'refused', error: 'f2: lost; f1: no such file, at all' }]]);
  });

  it('is refused at once if there are no such workers', () => {
    expect(new JobSessionRig().start().askJob('j1', ALL).answer('j1', 400, NO).replies).toEqual([
      ['j1', { kind: 'refused', error: 'no such thing' }],
    ]);
  });

  it.each([
    [404, 'JOB NOT FOUND'],
    [400, 'JOB NOT FOUND'],
    [500, 'FAILED'],
  ])('is reposted half a second after %i %s', (status, word) => {
    const rig = new JobSessionRig().start().askJob('j1', ALL).answer('j1', 202, SENT_TO('f1'));
    rig.answer('j1', status, { worker: 'f1', uuid: 'j1', status: word, service: 'filesharing' });
    rig.take();
    expect(rig.wait(500).asked).toContain('post j1');
    expect(rig.replies).toEqual([]);
  });

  it('is reposted on the next connection', () => {
    const rig = new JobSessionRig().start().askJob('j1', ALL);
    rig.on({ kind: 'lost', socket: rig.socket, reason: 'peer-gone' }).take();
    expect(rig.wait(100).asked).toEqual(['post j1']);
  });

  it('ends when its time is over', () => {
    const rig = new JobSessionRig().start().askJob('j1', ALL, 700);
    expect(rig.wait(700).replies).toEqual([['j1', { kind: 'timeout' }]]);
  });

  it('ignores answers of other workers', () => {
    const rig = new JobSessionRig().start().askJob('j1', ALL).answer('j1', 202, SENT_TO('f1', 'f2'));
    rig.answer('j1', 200, result('f2', { result: 1 }));
    rig.answer('j1', 200, result('f1', { result: 2 })).answer('j1', 200, { status: 'completed' }, 'event');
    expect(rig.replies).toHaveLength(1);
    expect(rig.notes('message-dropped')).toEqual([]);
  });
});

describe('rule 17: a chunk of a job', () => {
  it('is what the job streams, the first one by POST, the next by PUT', () => {
    const rig = new JobSessionRig()
      .start()
      .askJob('j1', CHUNK)
      .answer('j1', 202, SENT_TO('f1'))
      .answer('j1', 200, 'a', 'stream');
    expect(rig.replies).toEqual([['j1', { kind: 'answered', body: encodeNfpJson('a') }]]);
    rig.askJob('j1', NEXT);
    const sent = rig.all('send').at(-1);
    expect(sent?.command).toMatchObject({ command: 'put', target: '["f1"]', body: encodeNfpJson({ offset: 7 }) });
    expect(rig.answer('j1', 200, 'b', 'stream').replies).toHaveLength(2);
  });

  it.each([
    [404, { worker: 'f1', uuid: 'j1', status: 'JOB NOT FOUND' }, 'f1: status 404'],
    [200, result('f1', { failed: true, errors: ['gone'] }), 'f1: gone'],
    [200, result('f1', {}), 'f1: ended before the chunk arrived'],
  ])('is refused when its worker answers %i', (status, body, error) => {
    const rig = new JobSessionRig()
      .start()
      .askJob('j1', CHUNK)
      .answer('j1', 202, SENT_TO('f1'))
      .answer('j1', 200, 'a', 'stream');
    rig.askJob('j1', NEXT).take();
    expect(rig.wait(500).asked).toEqual(['get j1']);
    expect(rig.answer('j1', status, body).replies).toEqual([['j1', { kind: 'refused', error }]]);
  });

  it('is lost with the connection that it was requested on', () => {
    const rig = new JobSessionRig().start().askJob('j1', CHUNK);
    rig.on({ kind: 'lost', socket: rig.socket, reason: 'peer-gone' }).take();
    expect(rig.askJob('j2', CHUNK).askJob('j3', NEXT).wait(100).replies).toEqual([
      ['j1', { kind: 'lost' }],
      ['j3', { kind: 'lost' }],
    ]);
    expect(rig.asked).toEqual(['post j2']);
  });
});
