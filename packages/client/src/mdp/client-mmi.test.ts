import { describe, expect, it } from 'vitest';
import type { Asked } from '../../test/mdp/scripted-broker.js';
import { B, echo, silence, Stage, text } from '../../test/mdp/stage.js';

/** A broker with one service, `echo`, that knows `mmi.service` and answers other `mmi.` names as given. */
const withMmi =
  (other: Record<string, string[]> = {}) =>
  (asked: Asked): void => {
    if (asked.service === 'mmi.service') asked.final(asked.text === 'echo' ? '200' : '404');
    else if (asked.service.startsWith('mmi.')) asked.final(...(other[asked.service] ?? ['501']));
    else if (asked.service === 'echo') echo(asked);
  };

describe('service', () => {
  it.each([
    ['echo', 'available'],
    ['nobody', 'absent'],
  ])('rule 7: %s is %s', async (name, presence) => {
    const stage = new Stage();
    await stage.broker(withMmi());
    expect(await stage.settle(stage.client().service(name))).toBe(presence);
  });

  it.each([
    ['answers 501', (asked: Asked) => asked.final('501')],
    ['gives another answer', (asked: Asked) => asked.final('perhaps', '200')],
    ['is silent', silence],
  ])('rule 7: is unknown, not absent, with a broker that %s', async (_, answer) => {
    const stage = new Stage();
    await stage.broker(answer);
    expect(await stage.settle(stage.client().service('echo'))).toBe('unknown');
  });

  it('rule 7: asks in 0.1 as well', async () => {
    const stage = new Stage();
    await stage.broker(withMmi());
    expect(await stage.settle(stage.client({ version: '0.1' }).service('echo'))).toBe('available');
  });

  it('rule 7: rejects for any reason other than silence', async () => {
    const stage = new Stage();
    await stage.broker(silence);
    const signal = AbortSignal.abort('no');
    await expect(stage.settle(stage.client().service('echo', { signal }))).rejects.toBe('no');
  });
});

describe('failFast', () => {
  it('rule 7: rejects with SERVICE_UNKNOWN if no worker offers it, and does not send the request', async () => {
    const stage = new Stage();
    const broker = await stage.broker(withMmi());
    const client = stage.client({ failFast: true });
    await expect(stage.settle(client.request('nobody', 'x'))).rejects.toMatchObject({
      code: 'SERVICE_UNKNOWN',
      message: 'service "nobody": no worker offers it',
    });
    await expect(stage.settle(client.stream('nobody', 'x').next())).rejects.toMatchObject({ code: 'SERVICE_UNKNOWN' });
    expect(new Set(broker.asked.map(({ service }) => service))).toEqual(new Set(['mmi.service']));
  });

  it('rule 7: sends the request if a worker offers it', async () => {
    const stage = new Stage();
    await stage.broker(withMmi());
    expect(text(await stage.settle(stage.client().request('echo', 'x', { failFast: true })))).toBe('x');
  });

  it('rule 7: sends the request if the broker has no MMI, after one silence', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => asked.service === 'echo' && echo(asked));
    const client = stage.client({ failFast: true, timeoutMs: 1000 });
    expect(text(await stage.settle(client.request('echo', 'x')))).toBe('x');
    expect(broker.asked.map(({ service }) => service)).toEqual(['mmi.service', 'echo']);
  });

  it('rule 7: can be turned off for one call', async () => {
    const stage = new Stage();
    const broker = await stage.broker(withMmi());
    await stage.settle(stage.client({ failFast: true }).request('echo', 'x', { failFast: false }));
    expect(broker.asked.map(({ service }) => service)).toEqual(['echo']);
  });

  it('rule 7: does not ask about mmi. names themselves', async () => {
    const stage = new Stage();
    const broker = await stage.broker(withMmi());
    await stage.settle(stage.client({ failFast: true }).service('nobody'));
    expect(broker.asked).toHaveLength(1);
  });
});

describe('TIMEOUT', () => {
  /** Answers questions about services, and no others. */
  const mmiOnly =
    (code: string) =>
    (asked: Asked): void => {
      if (asked.service === 'mmi.service') asked.final(code);
    };
  const services = (broker: { readonly asked: readonly Asked[] }): string[] => broker.asked.map((one) => one.service);

  it.each([
    ['404', 'absent', 'the broker says that no worker offers it'],
    ['200', 'available', 'the broker says that a worker offers it'],
  ])('rule 4: reports what the broker says about the service: %s', async (code, presence, words) => {
    const stage = new Stage();
    const broker = await stage.broker(mmiOnly(code));
    const client = stage.client({ timeoutMs: 1000, tries: 2 });
    const failure = { code: 'TIMEOUT', message: expect.stringMatching(`; ${words}$`) as string, details: { presence } };
    await expect(stage.settle(client.request('echo', 'x'))).rejects.toMatchObject(failure);
    await expect(stage.settle(client.stream('echo', 'x').next())).rejects.toMatchObject(failure);
    expect(services(broker)).toEqual(['echo', 'echo', 'mmi.service', 'echo', 'echo', 'mmi.service']);
  });

  it('rule 4: waits at most 250 ms for a broker without MMI, and reports nothing then', async () => {
    const stage = new Stage();
    await stage.broker(silence);
    const error = await stage.settle(
      stage
        .client({ timeoutMs: 1000, tries: 1 })
        .request('echo', 'x')
        .catch((cause: unknown) => cause),
    );
    expect(error).toMatchObject({ code: 'TIMEOUT', message: expect.stringMatching(/it did not answer$/) as string });
    expect((error as { details: object }).details).not.toHaveProperty('presence');
    expect(stage.network.clock.now()).toBe(1250);
  });

  it('rule 4: asks once for all calls to a service that end together', async () => {
    const stage = new Stage();
    const broker = await stage.broker(mmiOnly('404'));
    const client = stage.client({ timeoutMs: 1000, tries: 1, sockets: 10 });
    const calls = Array.from({ length: 5 }, () => client.request('echo', 'x').catch((error: unknown) => error));
    for (const error of await stage.settle(Promise.all(calls)))
      expect(error).toMatchObject({ details: { presence: 'absent' } });
    expect(services(broker).filter((name) => name === 'mmi.service')).toHaveLength(1);
  });

  it('rule 4: does not ask if no socket is free or nothing is connected', async () => {
    const stage = new Stage();
    const broker = await stage.broker(mmiOnly('404'));
    const client = stage.client({ timeoutMs: 1000, tries: 1, sockets: 1 });
    const first = client.request('echo', 'x').catch((error: unknown) => error);
    const second = client.request('echo', 'x').catch((error: unknown) => error);
    expect(await stage.settle(first)).not.toHaveProperty('details.presence');
    expect(await stage.settle(second)).toHaveProperty('details.presence', 'absent');
    const alone = stage.client({ endpoints: [B], timeoutMs: 1000, tries: 1 });
    const failed = await stage.settle(alone.request('echo', 'x').catch((error: unknown) => error));
    expect(failed).not.toHaveProperty('details.presence');
    expect(services(broker)).toEqual(['echo', 'echo', 'mmi.service']);
  });
});

describe('listings', () => {
  const service = { name: 'echo', version: '0.2', workers: 2, busy: 1, waiting: 0 };
  const worker = { id: '0001', service: 'echo', version: '0.2', busy: true, lastSeenMs: 12 };

  it('services() lists what the broker knows', async () => {
    const stage = new Stage();
    await stage.broker(withMmi({ 'mmi.services': ['200', JSON.stringify([service])] }));
    expect(await stage.settle(stage.client().services())).toEqual([service]);
  });

  it('workers() asks for all, workers(name) for one service', async () => {
    const stage = new Stage();
    const broker = await stage.broker(withMmi({ 'mmi.workers': ['200', JSON.stringify([worker])] }));
    const client = stage.client();
    expect(await stage.settle(client.workers())).toEqual([worker]);
    expect(await stage.settle(client.workers('echo'))).toEqual([worker]);
    expect(broker.asked.map((asked) => asked.text)).toEqual(['', 'echo']);
  });

  it('asks until a long listing has ended', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      if (asked.text === '') asked.final('200', JSON.stringify([service, service]), '1');
      else if (asked.text === '|2') asked.final('200', JSON.stringify([service]));
    });
    expect(await stage.settle(stage.client().services())).toEqual([service, service, service]);
  });

  it('workers() of a service without workers is empty', async () => {
    const stage = new Stage();
    await stage.broker(withMmi({ 'mmi.workers': ['404'] }));
    expect(await stage.settle(stage.client().workers('nobody'))).toEqual([]);
  });

  it('are SERVICE_UNKNOWN with a broker that has none', async () => {
    const stage = new Stage();
    await stage.broker(withMmi());
    const client = stage.client();
    await expect(stage.settle(client.services())).rejects.toMatchObject({ code: 'SERVICE_UNKNOWN' });
    await expect(stage.settle(client.workers())).rejects.toMatchObject({ code: 'SERVICE_UNKNOWN' });
  });

  it.each([
    ['no JSON', ['200', '[']],
    ['no entries', ['200', '[1]']],
    ['no listing', ['200']],
    ['no code', ['hello']],
  ])('are PROTOCOL_REMOTE when the answer has %s', async (_, answer) => {
    const stage = new Stage();
    await stage.broker(withMmi({ 'mmi.services': answer }));
    await expect(stage.settle(stage.client().services())).rejects.toMatchObject({ code: 'PROTOCOL_REMOTE' });
  });
});
