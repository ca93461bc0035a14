/** A client in one-byte form at a broker that answers GET and DELETE once, for all workers together; and invalid answers. */
import { describe, expect, it } from 'vitest';
import { silence, Stage } from '../../test/nfp/stage.js';
import type { Asked } from '../../test/nfp/stage.js';

const result = (value: unknown) => ({ result: value, failed: false, errors: [], task: 't' });
const word = (worker: string, status: string, more: object = {}) => ({
  worker,
  uuid: 'u',
  status,
  service: 's',
  ...more,
});

/** Answers GETs with these, one after the other, and POST with DISPATCHED. */
const joining = (workers: readonly string[], ...said: readonly [status: number, value: unknown][]) => {
  let turn = 0;
  return (asked: Asked): void => {
    if (asked.kind === 'post') asked.dispatch(...workers);
    else if (asked.kind !== 'put') asked.answer(...(said[Math.min(turn++, said.length - 1)] as [number, unknown]));
  };
};

describe('a client in one-byte form', () => {
  it('rule 3: reads the answers of several workers in one', async () => {
    const stage = new Stage();
    const pending = { w1: result(1), w2: word('w2', 'STARTED') };
    await stage.broker(joining(['w1', 'w2'], [300, pending], [200, { w2: result(2) }]));
    const client = stage.client({ commandForm: 'byte' });
    const job = await stage.settle(client.post('sample', 't'));
    expect(await stage.settle(job.done())).toMatchObject({
      w1: { status: 200, result: 1 },
      w2: { status: 200, result: 2 },
    });
  });

  it('rule 3: recognizes by the word a job that waits for input, and one that no worker knows', async () => {
    const stage = new Stage();
    const input = { input_request: { id: 'i1', question: 'go on?' } };
    const broker = await stage.broker(
      joining(['w1'], [300, word('w1', 'WAITING_CLIENT_INPUT', input)], [200, { w1: result('yes') }]),
    );
    const client = stage.client({ commandForm: 'byte', onInput: () => 'yes' });
    expect(await stage.settle(client.run('sample', 't'))).toMatchObject({
      w1: { result: 'yes' },
    });
    expect(broker.asked.find(({ kind }) => kind === 'put')?.body).toMatchObject({ input_id: 'i1', value: 'yes' });
    broker.answer = joining(['w1'], [400, word('w1', 'JOB NOT FOUND')], [200, { w1: result(3) }]);
    expect(await stage.settle(client.run('sample', 't'))).toMatchObject({ w1: { result: 3 } });
    expect(client.stats()).toMatchObject({ reposts: 1 });
  });

  it('rule 3: keeps asking if the broker says that a worker is away for now', async () => {
    const stage = new Stage();
    const lost = word('w2', 'FAILED', { errors: ['the worker was lost'] });
    await stage.broker(
      joining(['w1', 'w2'], [200, { w1: result(1), w2: lost }], [408, lost], [200, { w2: result(2) }]),
    );
    const results = await stage.settle(stage.client({ commandForm: 'byte' }).run('sample', 't'));
    expect(results).toMatchObject({ w1: { result: 1 }, w2: { result: 2 } });
  });

  it('rule 6: gets and deletes by one answer, and matches answers to calls', async () => {
    const stage = new Stage();
    const broker = await stage.broker(joining(['w1'], [200, { w1: result(1), w2: result(2) }]));
    const client = stage.client({ commandForm: 'byte' });
    expect(await stage.settle(client.get('u1'))).toMatchObject({ w1: { result: 1 }, w2: { result: 2 } });
    broker.answer = (asked) => {
      // The answer to a GET of the same uuid comes first.
      asked.answer(200, { w1: result(1) });
      asked.answer(300, word('w1', 'STARTED'));
      asked.answer(200, { w1: word('w1', 'DELETED'), w2: word('w2', 'CANCELLED') });
    };
    expect(await stage.settle(client.delete('u1'))).toMatchObject({ w1: { status: 200 }, w2: { status: 200 } });
    broker.answer = (asked) => asked.answer(400, word('w1', 'JOB NOT FOUND'));
    await expect(stage.settle(client.get('u2'))).rejects.toMatchObject({ code: 'REJECTED' });
  });
});

describe('an invalid answer', () => {
  const unexpected = { code: 'UNEXPECTED_ANSWER', details: { status: 417 } };

  it('rule 3: to a POST is 417 at once, with its text', async () => {
    const stage = new Stage();
    await stage.broker((asked) => asked.answer(200, Buffer.from('<html>')));
    const failing = stage.settle(stage.client().run('sample', 't'));
    await expect(failing).rejects.toMatchObject({
      ...unexpected,
      message: expect.stringContaining('<html>') as string,
    });
  });

  it('rule 3: to a GET is 417 when the time of the job is over', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      if (asked.kind === 'post') asked.dispatch('w1', 'w2');
      else asked.answer(200, 'what?');
    });
    const results = await stage.settle(stage.client({ timeoutMs: 2000 }).run('sample', 't'));
    expect(results).toMatchObject({ w1: { status: 417, failed: true }, w2: { status: 417, failed: true } });
  });

  it.each<[string, (asked: Asked) => void]>([
    [
      'of another service',
      (asked) => {
        const { uuid } = asked.call;
        asked.raw(...['', 'NFPB01', '0x05', 'sid.service.broker', uuid, '200', '{}'].map((text) => Buffer.from(text)));
      },
    ],
    ['without JSON', (asked) => asked.answer(200, Buffer.from('<html>'))],
  ])('rule 6: %s to a service of the broker is 417', async (_, answer) => {
    const stage = new Stage();
    await stage.broker(answer);
    await expect(stage.settle(stage.client().showBroker())).rejects.toMatchObject(unexpected);
  });

  it('rule 3: no answer at all is not an invalid one, but 408', async () => {
    const stage = new Stage();
    await stage.broker(silence);
    await expect(stage.settle(stage.client({ timeoutMs: 2000 }).run('sample', 't'))).rejects.toMatchObject({
      code: 'TIMEOUT',
    });
  });
});
