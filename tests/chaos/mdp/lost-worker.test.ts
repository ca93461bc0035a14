// A worker is lost while it works: another one answers the request, and the client gets exactly one reply (rules 13 to 16).
import { describe, expect, it } from 'vitest';
import { CONNECTION_LOST, HOLD, LIFE_MS } from '../test-peers.js';
import { stage } from './stage.js';

const theater = stage();

/** A request that one worker holds while another stands by. */
async function scene(protocol: 'mdp' | 'mdp01') {
  // It is stopped before it sends a heartbeat while working.
  const { broker, endpoint } = await theater.broker({ 'mdp-mute-expiry-ms': LIFE_MS });
  const holder = await theater.worker(endpoint, { protocol, handler: HOLD });
  const client = await theater.client(endpoint, protocol === 'mdp' ? '0.2' : '0.1');
  client.ask('job');
  await holder.line('holding');
  await theater.worker(endpoint, { protocol });
  await broker.line('worker-ready', {}, 2);
  return { broker, holder, client };
}

describe.each(['mdp', 'mdp01'] as const)('%s: a worker is lost while it works', (protocol) => {
  it('when it is killed, another one answers, once', async () => {
    const { broker, holder, client } = await scene(protocol);
    holder.kill('SIGKILL');
    expect(CONNECTION_LOST).toContain((await broker.line('worker-lost'))['reason']);
    await client.received(1);
    client.ask('fence');
    await client.received(2);
    expect(Object.fromEntries(client.answers)).toEqual({ job: 1, fence: 1 });
  });

  it('when it is stopped, another one answers, and a late reply of the first one reaches no client', async () => {
    const { broker, holder, client } = await scene(protocol);
    holder.kill('SIGSTOP');
    await broker.line('worker-lost', { reason: 'expired' });
    await client.received(1);
    holder.kill('SIGCONT');
    await broker.line('worker-ready', {}, 3);
    client.ask('fence');
    await client.received(2);
    expect(Object.fromEntries(client.answers)).toEqual({ job: 1, fence: 1 });
  });
});
