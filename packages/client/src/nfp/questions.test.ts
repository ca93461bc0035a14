import { describe, expect, it } from 'vitest';
import { doing, silence, Stage } from '../../test/nfp/stage.js';
import { A, B } from '../../test/world.js';

describe('the broker’s own services', () => {
  it('rule 6: are called by MMI, and the second answer is ignored', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      asked.answer(200, { endpoint: 'x' });
      asked.answer(200, { endpoint: 'x' }, 'mmi');
    });
    const client = stage.client();
    expect(await stage.settle(client.showBroker())).toEqual({ endpoint: 'x' });
    expect(await stage.settle(client.inventory('w1'))).toEqual({ endpoint: 'x' });
    await stage.advance(1000);
    expect(broker.asked.map(({ kind, call, body }) => [kind, call.service, body])).toEqual([
      ['mmi', 'mmi.service.broker', { task: 'show_broker', kwargs: {}, args: [] }],
      ['mmi', 'sid.service.broker', { task: 'get_inventory', kwargs: { name: 'w1' }, args: [] }],
    ]);
    expect(client.stats().lateAnswers).toBe(2);
  });

  it.each([{ mmiCommand: 'get' }, { dialect: 'legacy' }] as const)(
    'rule 6: are called by GET if the broker does not know MMI: %o',
    async (options) => {
      const stage = new Stage();
      const broker = await stage.broker((asked) => asked.answer(200, null));
      expect(await stage.settle(stage.client(options).inventory('w1'))).toBe(null);
      expect(broker.heard).toEqual(['get all']);
    },
  );

  it('list workers, clients and services, and skip a row without a name', async () => {
    const stage = new Stage();
    await stage.broker((asked) => asked.answer(200, [{ name: asked.body['task'] === 'show_clients' ? '' : 'x' }]));
    const client = stage.client();
    expect(await stage.settle(client.showWorkers({ kwargs: { service: 's' } }))).toEqual([{ name: 'x' }]);
    expect(await stage.settle(client.showClients())).toEqual([]);
    expect(await stage.settle(client.showServices())).toEqual([{ name: 'x' }]);
  });

  it('a task unknown to the broker is answered with text', async () => {
    const stage = new Stage();
    await stage.broker((asked) => asked.answer(200, "Unsupported task 'show_clients'"));
    await expect(stage.settle(stage.client().showClients())).rejects.toMatchObject({ code: 'PROTOCOL_REMOTE' });
  });

  it('a refusal is REJECTED, no answer TIMEOUT, an abort its reason', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => asked.refuse('not enabled'));
    const client = stage.client();
    await expect(stage.settle(client.mmi('restart'))).rejects.toMatchObject({ code: 'REJECTED' });
    broker.answer = silence;
    await expect(stage.settle(client.mmi('x', { timeoutMs: 1000 }))).rejects.toMatchObject({ code: 'TIMEOUT' });
    const controller = new AbortController();
    const asked = stage.settle(client.mmi('x', { signal: controller.signal }));
    await stage.advance(1);
    controller.abort('enough');
    await expect(asked).rejects.toBe('enough');
    expect(client.stats().questions).toBe(0);
  });

  it('rule 6: a shutdown command is not repeated to the next broker', async () => {
    const stage = new Stage();
    const first = await stage.broker(silence);
    const second = await stage.broker((asked) => asked.answer(200, 'x'), B);
    const client = stage.client({ endpoints: [A, B] });
    const asked = client.mmi('shutdown');
    const repeated = client.mmi('show_broker');
    await stage.settle(first.received(2));
    await stage.settle(first.close());
    await expect(stage.settle(asked)).rejects.toMatchObject({ code: 'PEER_LOST' });
    expect(await stage.settle(repeated)).toBe('x');
    expect(second.asked.map(({ body }) => body['task'])).toEqual(['show_broker']);
  });
});

describe('a job of any client', () => {
  it('rule 6: is requested from all workers, and reported by those that know it', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      asked.dispatch('w1', 'w2', 'w3');
      asked.result('w1', 42);
      asked.say('w2', 404, 'JOB NOT FOUND');
      asked.say('w3', 300, 'STARTED');
    });
    const results = await stage.settle(stage.client().get('u1'));
    expect(results).toMatchObject({ w1: { status: 200, result: 42 }, w3: { status: 300, failed: false } });
    expect(Object.keys(results)).toEqual(['w1', 'w3']);
    expect(broker.asked[0]!.call).toMatchObject({ command: 'get', service: 'all', target: 'all', uuid: 'u1' });
  });

  it('rule 6: that no worker knows is REJECTED, and so is one of a service without workers', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      asked.dispatch('w1');
      asked.say('w1', 404, 'JOB NOT FOUND');
    });
    const client = stage.client();
    await expect(stage.settle(client.get('u1'))).rejects.toMatchObject({ code: 'REJECTED' });
    broker.answer = (asked) => asked.refuse('nobody');
    await expect(stage.settle(client.get('u1', { service: 's' }))).rejects.toMatchObject({ code: 'REJECTED' });
  });

  it('rule 5: is deleted, and the workers say what that means', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      asked.dispatch('w1');
      asked.say('w1', 200, 'CANCELLING');
    });
    const results = await stage.settle(stage.client().delete('u1', { service: 's', target: ['w1'] }));
    expect(results['w1']!.value).toMatchObject({ status: 'CANCELLING' });
    expect(broker.heard).toEqual(['delete ["w1"]']);
  });

  it('rule 5: NORFAB’s workers do not answer DELETE, which is 408', async () => {
    const stage = new Stage();
    await stage.broker((asked) => asked.dispatch('w1'));
    const results = await stage.settle(stage.client().delete('u1', { timeoutMs: 500 }));
    expect(results['w1']).toMatchObject({ status: 408, failed: true });
  });

  it('may be queried while it is open here, and continues', async () => {
    const stage = new Stage();
    await stage.broker(doing('w1'));
    const client = stage.client();
    const job = await stage.settle(client.post('s', 't', { uuid: 'u1' }));
    const [asked, done] = await stage.settle(Promise.all([client.get('u1'), job.done()]));
    expect([asked['w1']!.result, done['w1']!.result]).toEqual(['done by w1', 'done by w1']);
    expect(client.stats()).toMatchObject({ jobs: 0, questions: 0, bytes: 0 });
  });
});

it('rule 5: the answer to a DELETE does not answer GET, and a result does not answer DELETE', async () => {
  const stage = new Stage();
  await stage.broker((asked) => {
    asked.dispatch('w1');
    asked.say('w1', 200, 'CANCELLING');
    asked.result('w1', 42);
  });
  const client = stage.client();
  expect((await stage.settle(client.get('u1')))['w1']!.result).toBe(42);
  expect((await stage.settle(client.delete('u1')))['w1']!.value).toMatchObject({ status: 'CANCELLING' });
});

describe('the workers’ own management', () => {
  it('rule 6: is called by GET, so that a 202 names the workers that will answer', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      asked.dispatch('w1', 'w2');
      asked.answer(200, [{ jobs: 1 }]);
      asked.answer(200, [{ jobs: 2 }]);
    });
    const client = stage.client();
    const answers = await stage.settle(client.mmiWorkers('show_workers'));
    expect(answers.map(({ value }) => value)).toEqual([[{ jobs: 1 }], [{ jobs: 2 }]]);
    broker.answer = (asked) => {
      asked.dispatch('w1');
      asked.answer(400, { errors: ['not enabled'] });
    };
    const one = await stage.settle(client.mmiWorkers('restart', { target: ['w1'] }));
    expect(one).toMatchObject([{ worker: 'w1', status: 400 }]);
    expect(broker.asked[0]!.call).toMatchObject({ command: 'get', service: 'mmi.service.worker' });
  });
});
