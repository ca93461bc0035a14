// 8/MMI in both directions: what a broker says about its services.
import { describe, expect, it } from 'vitest';
import { brokerEvent, stage, VERSIONS } from './stage.js';

const theater = stage();

describe.each(VERSIONS)('MMI over MDP %s', (version) => {
  it('rules 25 and 26: our broker tells a Python client 404, 200, 404 again, and 501', async () => {
    const { broker, endpoint } = await theater.broker();
    const client = theater.pythonClient({ connect: endpoint, version });
    const ask = async (name: string, ...argument: string[]) => {
      const { body } = await client.ask(
        name,
        argument.map((text) => Buffer.from(text)),
      );
      return body.map(String);
    };
    expect(await ask('mmi.service', 'echo')).toEqual(['404']);
    const registered = brokerEvent(broker, 'worker-ready');
    const worker = await theater.pythonWorker({ connect: endpoint, version });
    await registered;
    expect(await ask('mmi.service', 'echo')).toEqual(['200']);
    expect(await ask('mmi.service', 'echo', 'and a second frame')).toEqual(['200']);
    expect(await ask('mmi.service', 'other')).toEqual(['404']);
    expect(await ask('mmi.other', 'echo')).toEqual(['501']);
    const lost = brokerEvent(broker, 'worker-lost');
    worker.tell({ do: 'leave' });
    await lost;
    expect(await ask('mmi.service', 'echo')).toEqual(['404']);
  });

  it('rule 7: our client reads 200, 404 and 501 of a Python broker', async () => {
    const { broker, endpoint } = await theater.pythonBroker({ version });
    const client = theater.client({ endpoints: [endpoint], version });
    expect(await client.service('echo')).toBe('absent');
    await theater.worker({ endpoints: [endpoint], version });
    await broker.line('worker');
    expect(await client.service('echo')).toBe('available');
    await expect(client.request('nobody', 'x', { failFast: true })).rejects.toMatchObject({ code: 'SERVICE_UNKNOWN' });
    await expect(client.services()).rejects.toMatchObject({ code: 'SERVICE_UNKNOWN' });
    expect(String(await client.request('mmi.other', 'x'))).toBe('501');
  });
});
