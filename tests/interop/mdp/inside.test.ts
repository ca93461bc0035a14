// Services inside our broker, called by Python clients that cannot tell them from workers (rule 29 of
// docs/protocols/mdp.md).
import type { MdpHandler } from '@proj/broker';
import type { HandlerContext } from '@proj/worker';
import { describe, expect, it } from 'vitest';
import { brokerEvent, stage, VERSIONS } from './stage.js';

const theater = stage();

/** A partial reply for each frame, then their number. */
const parts: MdpHandler = async function* ({ body }) {
  for (const [number, frame] of body.entries()) yield [number.toString(), frame];
  return body.length.toString();
};

describe.each(VERSIONS)('MDP %s: a Python client and services inside our broker', (version) => {
  it('rule 29: bodies of any frames come back byte for byte', async () => {
    const { broker, endpoint } = await theater.broker();
    broker.serve('echo', ({ body }) => body);
    const client = theater.pythonClient({ connect: endpoint, version });
    for (const body of [['hello'], ['', 'two', ''], ['\x00\xff\x06'], ['x'.repeat(200_000), 'end']]) {
      const frames = body.map((frame) => Buffer.from(frame, 'latin1'));
      expect((await client.ask('echo', frames)).body).toEqual(frames);
    }
  });

  it('rule 29: partial replies come in order, in 0.1 all in one message', async () => {
    const { broker, endpoint } = await theater.broker();
    broker.serve('parts', parts);
    const answer = await theater.pythonClient({ connect: endpoint, version }).ask(
      'parts',
      ['a', 'b'].map((each) => Buffer.from(each)),
    );
    const [partials, body] = [answer.partials.map((part) => part.map(String)), answer.body.map(String)];
    if (version === '0.2')
      expect([partials, body]).toEqual([
        [
          ['0', 'a'],
          ['1', 'b'],
        ],
        ['2'],
      ]);
    else expect([partials, body]).toEqual([[], ['0', 'a', '1', 'b', '2']]);
  });

  it('rule 29: each of 300 requests at once gets its own reply, and mmi.service says 200', async () => {
    const { broker, endpoint } = await theater.broker();
    broker.serve('double', ({ body }) => String(Number(body[0]) * 2), { concurrency: 4 });
    const client = theater.pythonClient({ connect: endpoint, version });
    const bodies = Array.from({ length: 300 }, (_, i) => [Buffer.from(i.toString())]);
    const replies = await client.askAll('double', bodies);
    expect(replies.map(([frame]) => Number(frame))).toEqual(bodies.map((_, i) => i * 2));
    expect((await client.ask('mmi.service', [Buffer.from('double')])).body.map(String)).toEqual(['200']);
    expect(broker.stats().counters).toMatchObject({ runs: 300, replies: 300, dispatches: 0 });
  });

  it('rule 29: killing a client ends its handler', async () => {
    const { broker, endpoint } = await theater.broker();
    let begin: (context: HandlerContext) => void = () => undefined;
    const begun = new Promise<HandlerContext>((resolve) => {
      begin = resolve;
    });
    const stop = broker.serve('wait', (_request, context) => {
      begin(context);
      return new Promise<string>((_, reject) => {
        context.signal.addEventListener('abort', reject);
      });
    });
    const victim = theater.pythonClient({ connect: endpoint, version });
    victim.ask('wait', [Buffer.from('x')]).catch(() => undefined);
    const { signal } = await begun;
    victim.client.kill('SIGKILL');
    await stop();
    expect(signal.reason).toMatchObject({ code: 'PEER_LOST' });
    expect(broker.stats()).toMatchObject({ openRequests: 0, counters: { runs: 1, resends: 0 } });
  });

  it("rule 29: a Python worker with the same name comes first, and its job goes to the broker's handler when it is killed", async () => {
    const { broker, endpoint } = await theater.broker();
    broker.serve('echo', ({ body }) => ['inside', ...body]);
    const worker = await theater.pythonWorker({ connect: endpoint, version, job: 'hold' });
    const client = theater.pythonClient({ connect: endpoint, version });
    const answer = client.ask('echo', [Buffer.from('x')]);
    await worker.line('working');
    const lost = brokerEvent(broker, 'worker-lost');
    worker.kill('SIGKILL');
    expect((await answer).body.map(String)).toEqual(['inside', 'x']);
    expect(await lost).toMatchObject({ service: 'echo' });
    expect(broker.stats().counters).toMatchObject({ dispatches: 1, runs: 1, resends: 1, replies: 1 });
  });
});
