/** `proj events` with a publishing proj-broker. */
import { processTransport } from '@proj/appkit';
import { Programs, TRANSPORTS } from '@proj/appkit/testing';
import { encodeNfp, encodeNfpJson } from '@proj/frames/nfp';
import { afterEach, describe, expect, it } from 'vitest';

const programs = new Programs();
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await programs.end();
});

/**
 * A broker that publishes, with a worker that keeps reporting an event for each of two jobs, because a subscription is not
 * confirmed.
 */
async function start(): Promise<string> {
  const broker = await programs.startBroker(
    '--only',
    'nfp',
    '--nfp',
    'tcp://127.0.0.1:*',
    '--nfp-events',
    'tcp://127.0.0.1:*',
  );
  const { registered } = broker;
  const endpoints = broker.endpoints as Readonly<Record<string, string>>;
  const transport = processTransport(TRANSPORTS[0]);
  await transport.load();
  const port = transport.dealer({ routingId: Buffer.from('w1') });
  const send = (frames: Uint8Array[]) => {
    port.send({ key: '', id: new Uint8Array(0) }, frames);
  };
  port.connect(endpoints['nfp'] ?? '');
  port.start({
    onMessage: () => {},
    onPeerGone: () => {},
    onUndeliverable: () => {},
    onRejected: () => {},
    onBroken: () => {},
  });
  send(encodeNfp({ kind: 'worker-ready', form: 'ascii', service: 'sample' }));
  await registered(1);
  const tell = (uuid: string) => {
    const body = encodeNfpJson({ message: 'half way', status: 'running', severity: 'WARNING' });
    const event = { kind: 'worker-answer', form: 'ascii', command: 'event', client: Buffer.from('c1') } as const;
    send(encodeNfp({ ...event, uuid, status: 200, body }));
  };
  const telling = setInterval(() => {
    tell('u1');
    tell('u2');
  }, 20);
  ends.push(() => {
    clearInterval(telling);
    return port.close({ lingerMs: 0 });
  });
  return endpoints['nfpEvents'] ?? '';
}

describe('proj events', () => {
  it('prints one line per event, for a service, for a job, or as JSON', async () => {
    const connect = await start();
    const listen = (...args: string[]) => programs.run('cli', ['events', '--connect', connect, ...args]);
    const lines = (await listen('--count', '2')).stdout.trim().split('\n');
    expect(lines.sort()).toEqual(['sample u1 w1> WARNING half way', 'sample u2 w1> WARNING half way']);
    const one = await listen('sample', '--uuid', 'u2', '--count', '1', '--json');
    expect(JSON.parse(one.stdout)).toMatchObject({
      service: 'sample',
      worker: 'w1',
      uuid: 'u2',
      event: { message: 'half way' },
      missed: 0,
    });
    expect(await listen('other', '--count', '1', '--timeout-ms', '300')).toMatchObject({ code: 3, stdout: '' });
  });

  it('needs the service of a job', async () => {
    const { code, stderr } = await programs.run('cli', ['events', '--uuid', 'u1']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--uuid')]);
  });
});
