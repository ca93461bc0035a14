/** `proj publish` and `proj subscribe` with the pub-sub device of proj-broker. */
import { Programs } from '@proj/appkit/testing';
import { EmqpClient } from '@proj/client';
import { afterEach, describe, expect, it } from 'vitest';

const programs = new Programs();
const clients: EmqpClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await programs.end();
});

/** The device, and a client of it. */
async function start() {
  const { endpoints } = await programs.startBroker('--only', 'emqp');
  const { emqpPublish: publishEndpoint, emqpSubscribe: subscribeEndpoint } = endpoints;
  const client = new EmqpClient({ publishEndpoint, subscribeEndpoint });
  clients.push(client);
  const proj = (command: string, connect: string, ...args: string[]) =>
    programs.run('cli', [command, '--connect', connect, ...args]);
  return {
    client,
    publish: (...args: string[]) => proj('publish', publishEndpoint, '--timeout-ms', '60000', ...args),
    subscribe: (...args: string[]) => proj('subscribe', subscribeEndpoint, ...args),
  };
}

/** Publishes repeatedly until a message arrives: from then on the device knows the subscription. */
async function known<Value>(client: EmqpClient, topic: string, heardOf: Promise<Value>): Promise<Value> {
  const ignore = () => undefined;
  const knocking = setInterval(() => void client.publish(topic, Buffer.from([0, 255])).catch(ignore), 20);
  try {
    return await heardOf;
  } finally {
    clearInterval(knocking);
  }
}

describe('proj publish and proj subscribe', () => {
  it('publish sends a message to all subscribers', async () => {
    const { client, publish } = await start();
    const subscription = client.subscribe('news');
    await known(client, 'news.knock', subscription.next());
    expect(await publish('news.sport', 'two to one')).toEqual({ code: 0, stdout: '', stderr: '' });
    let last = '';
    for await (const { topic, body } of subscription) {
      last = `${String(topic)} ${String(body)}`;
      if (!last.startsWith('news.knock')) break;
    }
    expect(last).toBe('news.sport two to one');
  });

  it('subscribe prints the given number of messages as JSON, and ends', async () => {
    const { client, subscribe } = await start();
    const outcome = await known(client, 'news', subscribe('--count', '2', '--json', 'news'));
    const line = `${JSON.stringify({ topic: 'news', body: { hex: '00ff' }, missed: 0 })}\n`;
    expect(outcome).toEqual({ code: 0, stdout: line + line, stderr: '' });
  });

  it('subscribe separates topic and body in text output', async () => {
    const { client, subscribe } = await start();
    expect(await known(client, 'news', subscribe('--count', '1'))).toMatchObject({ code: 0, stdout: 'news 0x00ff\n' });
  });

  it('subscribe ends with exit code 3 if no message comes in time', async () => {
    const { subscribe } = await start();
    const outcome = await subscribe('--timeout-ms', '50', 'nothing');
    expect(outcome).toMatchObject({ code: 3, stdout: '' });
    expect(outcome.stderr).toContain('no message within 50 ms, after 0');
  });

  it('publish refuses an empty topic', async () => {
    const { publish } = await start();
    expect(await publish('', 'x')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('topic is empty') as string,
    });
  });
});
