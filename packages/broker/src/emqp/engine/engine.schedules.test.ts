/** Rules 21 and 22: which scheduler gets which SCHEDULE, and in which frames. */
import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest, jobBody } from '../../../test/emqp/broker-under-test.js';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest();
});

describe('frames', () => {
  it('rule 21: nine are forwarded as they came', () => {
    broker.scheduler('s1');
    expect(broker.say('c1', 'SCHEDULE', 'm1', 'mail', '\xff', 'x', jobBody(), '* * * * *')).toEqual([
      '-> s1 SCHEDULE m1 every x with "\xff"',
    ]);
  });

  it('rule 21: seven become nine: the interval is taken out of the headers', () => {
    broker.scheduler('s1');
    expect(broker.say('c1', 'SCHEDULE', 'm1', 'mail', 'guarantee,interval:30', jobBody())).toEqual([
      '-> s1 SCHEDULE m1 every 30 with "guarantee"',
    ]);
    expect(broker.say('c1', 'UNSCHEDULE', 'm2', '', 'interval:30', jobBody())).toEqual([
      '-> s1 UNSCHEDULE m2 every -1 with ""',
    ]);
  });

  it('rule 21: SCHEDULE of seven frames without an interval is refused', () => {
    broker.scheduler('s1');
    expect(broker.say('c1', 'SCHEDULE', 'm1', 'mail', 'guarantee', jobBody())).toEqual([
      'note message-dropped no-interval c1',
    ]);
  });
});

describe('routing', () => {
  it('rule 22: SCHEDULE goes to the scheduler that registered last', () => {
    broker.scheduler('s1');
    broker.scheduler('s2');
    expect(broker.schedule('c1', 'm1')).toEqual(['-> s2 SCHEDULE m1 every 2 with "guarantee"']);
  });

  it('rule 22: SCHEDULE of a job goes to the scheduler that has it', () => {
    broker.scheduler('s1');
    broker.schedule('c1', 'm1', 'add');
    broker.scheduler('s2');
    expect(broker.schedule('c1', 'm2', 'add')).toEqual(['-> s1 SCHEDULE m2 every 2 with "guarantee"']);
    expect(broker.schedule('c1', 'm3', 'other')).toEqual(['-> s2 SCHEDULE m3 every 2 with "guarantee"']);
  });

  it('rule 22: jobs are the same whatever their queue, headers, interval and spacing', () => {
    broker.scheduler('s1');
    broker.schedule('c1', 'm1', 'add');
    broker.scheduler('s2');
    const body = '["run",{"args":[2,3],"path":"myjobs","callable":"add","kwargs":{}}]';
    expect(broker.say('c2', 'SCHEDULE', 'm2', 'mail', '', '-1', body, '* * * * *')[0]).toMatch(/^-> s1 /);
  });

  it('rule 22: UNSCHEDULE goes to all, and then no scheduler has the job', () => {
    broker.scheduler('s1');
    broker.schedule('c1', 'm1');
    broker.scheduler('s2');
    expect(broker.unschedule('c1', 'm2')).toEqual([
      '-> s1 UNSCHEDULE m2 every -1 with "guarantee"',
      '-> s2 UNSCHEDULE m2 every -1 with "guarantee"',
    ]);
    expect(broker.schedule('c1', 'm3')).toEqual(['-> s2 SCHEDULE m3 every 2 with "guarantee"']);
  });

  it('rule 22: the jobs of a lost scheduler go to the one that registered last', () => {
    broker.scheduler('s1');
    broker.scheduler('s2');
    broker.schedule('c1', 'm1');
    broker.bye('s2');
    expect(broker.schedule('c1', 'm2')).toEqual(['-> s1 SCHEDULE m2 every 2 with "guarantee"']);
  });

  it('rule 22: a SCHEDULE that comes back goes to the next scheduler', () => {
    broker.scheduler('s1');
    broker.scheduler('s2');
    broker.schedule('c1', 'm1');
    expect(broker.undeliverable('s2')).toEqual(['left s2 unreachable', '-> s1 SCHEDULE m1 every 2 with "guarantee"']);
    expect(broker.undeliverable('s1')).toEqual(['left s1 unreachable', 'note message-dropped no-scheduler s1']);
  });

  it('rule 22: an UNSCHEDULE that comes back ends its scheduler', () => {
    broker.scheduler('s1');
    broker.unschedule('c1', 'm1');
    expect(broker.undeliverable('s1')).toEqual(['left s1 unreachable']);
  });

  it('rule 22: without a scheduler both are dropped, logged and counted, and the client gets no answer', () => {
    expect(broker.schedule('c1', 'm1')).toEqual(['note message-dropped no-scheduler c1']);
    expect(broker.unschedule('c2', 'm2')).toEqual(['note message-dropped no-scheduler c2']);
    expect(broker.dropped).toEqual({ 'no-scheduler': 2 });
  });

  it.each([['not JSON'], ['["run", {"path": "m"}]'], ['["run", {"callable": "f"}]']])(
    'rule 22: a body that names no job is dropped: %s',
    (body) => {
      broker.scheduler('s1');
      expect(broker.say('c1', 'SCHEDULE', 'm1', 'default', '', '2', body, '')).toEqual([
        'note message-dropped job-invalid c1',
      ]);
    },
  );
});
