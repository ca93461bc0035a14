import { encodeNfpJson } from '@proj/frames/nfp';
import { describe, expect, it } from 'vitest';
import { Rig } from '../../../test/nfp/session-rig.js';

const NO = {
  workers: null,
  uuid: 'q1',
  target: 'all',
  status: 'FAILED',
  service: 'sid.service.broker',
  errors: ['no such thing'],
};

describe('rule 17: a question to the broker', () => {
  it('goes out on the connection of the worker, as a client asks, and is answered once', () => {
    const rig = new Rig().start();
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

  it('goes by GET in dialect legacy', () => {
    expect(new Rig({ dialect: 'legacy' }).start().ask('q1').asked).toEqual(['get q1']);
  });

  it('is refused in the words of the broker', () => {
    const rig = new Rig().start().ask('q1').ask('q2').answer('q1', 400, NO).answer('q2', 404, 'what?');
    expect(rig.replies).toEqual([
      ['q1', { kind: 'refused', error: 'no such thing' }],
      ['q2', { kind: 'refused', error: 'status 404' }],
    ]);
  });

  it('waits for a connection, and is asked again on the next one', () => {
    const rig = new Rig().start();
    rig.on({ kind: 'lost', socket: rig.socket, reason: 'peer-gone' }).take();
    expect(rig.ask('q1').asked).toEqual([]);
    expect(rig.wait(100).asked).toEqual(['mmi q1']);
    rig.on({ kind: 'lost', socket: rig.socket, reason: 'peer-gone' }).take();
    expect(rig.wait(400).asked).toEqual(['mmi q1']);
    expect(rig.answer('q1', 200, null).replies).toHaveLength(1);
  });

  it('is asked again after half a second when the broker was too busy', () => {
    const rig = new Rig().start().ask('q1').ask('q2').answer('q1', 500, NO);
    rig.take();
    expect(rig.wait(499).asked).toEqual([]);
    expect(rig.wait(1).asked).toEqual(['mmi q1']);
    expect(rig.replies).toEqual([]);
  });

  it('ends when its time is over, also where no broker is', () => {
    const rig = new Rig().start();
    rig.on({ kind: 'lost', socket: rig.socket, reason: 'peer-gone' });
    rig.ask('q1', 700);
    expect(rig.wait(699).replies).toEqual([]);
    expect(rig.wait(1).replies).toEqual([['q1', { kind: 'timeout' }]]);
  });

  it('ends with the worker, and is not asked of one that leaves', () => {
    const rig = new Rig().start().post('u1').ask('q1');
    rig.on({ kind: 'close' });
    expect(rig.ask('q2').replies).toEqual([
      ['q1', { kind: 'closed' }],
      ['q2', { kind: 'closed' }],
    ]);
  });

  it('is one of a thousand at most', () => {
    const rig = new Rig().start();
    for (let count = 0; count <= 1000; count++) rig.ask(`q${count}`);
    expect(rig.replies).toEqual([['q1000', { kind: 'refused', error: '1000 questions are open' }]]);
  });

  it('does not take what others are told for an answer', () => {
    const rig = new Rig()
      .start()
      .ask('q1')
      .answer('q2', 200, 1)
      .answer('q1', 200, 1, 'event')
      .answer('q3', 200, 1, 'mmi');
    expect(rig.replies).toEqual([]);
    expect(rig.notes('message-dropped')).toMatchObject([{ reason: 'answer' }, { reason: 'answer' }]);
  });
});
