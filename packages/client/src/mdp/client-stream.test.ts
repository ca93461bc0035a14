import { describe, expect, it } from 'vitest';
import type { Asked } from '../../test/mdp/scripted-broker.js';
import { silence, Stage, text } from '../../test/mdp/stage.js';

const countTo =
  (n: number) =>
  (asked: Asked): void => {
    for (let i = 1; i <= n; i++) asked.partial(String(i));
    asked.final('end');
  };

/** All partial replies, then what ended the stream. */
async function drain(stream: AsyncGenerator<Buffer[], Buffer[]>): Promise<unknown[]> {
  const seen: unknown[] = [];
  try {
    while (true) {
      const { done, value } = await stream.next();
      seen.push(text(value));
      if (done === true) return seen;
    }
  } catch (error) {
    return [...seen, error];
  }
}

describe('stream', () => {
  it('rule 5: yields the partial replies in order and returns the final one', async () => {
    const stage = new Stage();
    await stage.broker(countTo(3));
    const stream = stage.client().stream('tail', 'log');
    expect(await stage.settle(drain(stream))).toEqual(['1', '2', '3', 'end']);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it('rule 5: shows only partial replies to for await', async () => {
    const stage = new Stage();
    await stage.broker(countTo(2));
    const seen: string[] = [];
    const reading = (async () => {
      for await (const frames of stage.client().stream('tail', 'log')) seen.push(text(frames));
    })();
    await stage.settle(reading);
    expect(seen).toEqual(['1', '2']);
  });

  it('rule 5: yields each partial reply as it comes', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => asked.partial('first'));
    const stream = stage.client().stream('tail', 'log');
    expect(await stage.settle(stream.next())).toEqual({ done: false, value: [Buffer.from('first')] });
    broker.asked[0]!.final('end');
    expect(await stage.settle(stream.next())).toEqual({ done: true, value: [Buffer.from('end')] });
  });

  it('rule 5: of a 0.1 broker has a final reply and nothing before it', async () => {
    const stage = new Stage();
    await stage.broker((asked) => asked.final('end'));
    expect(await stage.settle(drain(stage.client({ version: '0.1' }).stream('tail', 'log')))).toEqual(['end']);
  });

  it('rule 5: sends nothing until it is read', async () => {
    const stage = new Stage();
    const broker = await stage.broker(silence);
    stage.client().stream('tail', 'log');
    await stage.advance(1000);
    expect(broker.asked).toEqual([]);
  });

  it('rule 5: closes its socket if its reader leaves early', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      asked.partial('1');
      asked.partial('2');
    });
    const client = stage.client();
    const reading = (async () => {
      for await (const frames of client.stream('tail', 'log')) return text(frames);
      return undefined;
    })();
    expect(await stage.settle(reading)).toBe('1');
    expect(client.stats()).toMatchObject({ lanes: 0, busy: 0, aborts: 1 });
  });

  it('rule 5: leaves its socket to the next call if it is read to its end', async () => {
    const stage = new Stage();
    await stage.broker(countTo(1));
    const client = stage.client();
    await stage.settle(drain(client.stream('tail', 'log')));
    expect(client.stats()).toMatchObject({ lanes: 1, busy: 0, aborts: 0 });
  });

  it('rule 5: rejects with the reason at once when aborted, whatever is buffered', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      for (let i = 0; i < 5; i++) asked.partial('x');
    });
    const abort = new AbortController();
    const client = stage.client();
    const stream = client.stream('tail', 'log', { signal: abort.signal });
    await stage.settle(stream.next());
    await stage.advance(100);
    expect(client.stats().partials).toBe(5);
    abort.abort('stop');
    await expect(stream.next()).rejects.toBe('stop');
    expect(client.stats()).toMatchObject({ lanes: 0, busy: 0 });
  });

  it('rule 5: rejects with the reason when aborted while it waits', async () => {
    const stage = new Stage();
    await stage.broker(silence);
    const abort = new AbortController();
    const next = stage.settle(stage.client().stream('tail', 'log', { signal: abort.signal }).next());
    await stage.advance(10);
    abort.abort('stop');
    await expect(next).rejects.toBe('stop');
  });

  it('rule 4: that falls silent after a partial reply is not resent: PEER_LOST', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => asked.partial('1'));
    const seen = await stage.settle(drain(stage.client().stream('tail', 'log')));
    expect(seen).toEqual(['1', expect.objectContaining({ code: 'PEER_LOST' })]);
    expect(broker.asked).toHaveLength(1);
  });

  it('rule 4: that falls silent before is resent', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => broker.asked.length > 1 && asked.final('end'));
    expect(await stage.settle(drain(stage.client().stream('tail', 'log')))).toEqual(['end']);
  });

  it('rule 4: lives as long as partial replies come', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => asked.partial('0'));
    const reading = drain(stage.client({ timeoutMs: 1000 }).stream('tail', 'log'));
    for (let i = 1; i <= 5; i++) {
      await stage.advance(900);
      broker.asked[0]!.partial(String(i));
    }
    broker.asked[0]!.final('end');
    expect(await stage.settle(reading)).toEqual(['0', '1', '2', '3', '4', '5', 'end']);
  });
});

describe('a reader that is too slow', () => {
  it.each([
    ['replies', { streamBufferMax: 3 }],
    ['bytes', { streamBufferMaxBytes: 30 }],
  ])('gets what was buffered and then QUEUE_FULL: bound on %s', async (_, bound) => {
    const stage = new Stage();
    await stage.broker((asked) => {
      for (let i = 0; i < 9; i++) asked.partial(`${i} of 9...`);
    });
    const client = stage.client(bound);
    const stream = client.stream('tail', 'log');
    await stage.settle(stream.next());
    await stage.advance(100);
    const rest = await stage.settle(drain(stream));
    expect(rest).toEqual(['1 of 9...', '2 of 9...', '3 of 9...', expect.objectContaining({ code: 'QUEUE_FULL' })]);
    expect(client.stats()).toMatchObject({ lanes: 0, busy: 0, aborts: 1 });
  });

  it('gets a single reply of any size', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      asked.partial('x'.repeat(1000));
      asked.final('end');
    });
    const seen = await stage.settle(drain(stage.client({ streamBufferMaxBytes: 10 }).stream('tail', 'log')));
    expect(seen).toEqual(['x'.repeat(1000), 'end']);
  });
});
