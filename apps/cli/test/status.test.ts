/** `proj status` at the admin port of proj-broker, with bare sockets as peers. */
import { Programs } from '@proj/appkit/testing';
import { afterEach, expect, it } from 'vitest';
import { Dealer, Router } from 'zeromq';
import { status } from '../src/status.js';
import { run } from './in-process.js';

const programs = new Programs();
const sockets: (Dealer | Router)[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.close();
  await programs.end();
});

function dealer(endpoint: string, routingId: string): Dealer {
  const socket = new Dealer({ routingId, linger: 0 });
  socket.connect(endpoint);
  sockets.push(socket);
  return socket;
}

const say = (socket: Dealer, ...frames: readonly string[]) => socket.send(['', 'eMQP/1.0', ...frames]);

/** The next message with this command. */
async function hear(socket: Dealer, word: string): Promise<void> {
  for await (const [, , command] of socket) if (String(command) === word) return;
}

/** A broker with one worker, one scheduler, and a waiting job. */
async function start() {
  const { endpoints } = await programs.startBroker('--only', 'emqp', '--heartbeat-ms', '10000', '--liveness', '60');
  const worker = dealer(endpoints.emqpBackend, 'w1');
  await say(worker, 'INFORM', 'i1', '[[20, "mail"], [10, "default"]]', 'worker');
  await hear(worker, 'ACK');
  const scheduler = dealer(endpoints.emqpFrontend, 's1');
  await say(scheduler, 'INFORM', 'i2', '', 'scheduler');
  await hear(scheduler, 'ACK');
  const client = dealer(endpoints.emqpFrontend, 'c1');
  await say(client, 'REQUEST', 'm1', 'mail', '', '["run", {"path": "m", "callable": "f"}]');
  await hear(client, 'REPLY');
  return (...args: readonly string[]) =>
    programs.run('cli', [
      ...['status', '--protocol', 'emqp', '--connect', endpoints.emqpAdmin, '--timeout-ms', '60000'],
      ...args,
    ]);
}

it.each(['zmq', 'zmtp'])('shows queues, workers and schedulers, over %s', async (transport) => {
  const ask = await start();
  const { stdout, ...rest } = await ask('--transport', transport);
  expect({ ...rest, stdout: stdout.replace(/ \d+ of \d+ bytes/, ' H of M bytes') }).toEqual({
    code: 0,
    stderr: '',
    stdout: `${[
      'QUEUE    WORKERS  WAITING  IN FLIGHT  DONE  MS  MAX MS',
      'mail           1        1          0     0   0       0',
      'default        1        0          0     0   0       0',
      '',
      'WORKER  SLOTS  DONE  QUEUES',
      'w1          0     0  20:mail 10:default',
      '',
      'SCHEDULER',
      's1',
      '',
      'memory: H of M bytes held, ok',
    ].join('\n')}\n`,
  });
});

it('prevents queue names from controlling the terminal or forging a row', async () => {
  const { endpoints } = await programs.startBroker('--only', 'emqp', '--heartbeat-ms', '10000', '--liveness', '60');
  const worker = dealer(endpoints.emqpBackend, 'w1');
  await say(worker, 'INFORM', 'i1', JSON.stringify([[10, '\u001b[2Jmail\nforged']]), 'worker');
  await hear(worker, 'ACK');
  const { lines } = await run(status, [], { protocol: 'emqp', connect: [endpoints.emqpAdmin] });
  expect(lines.join('')).not.toContain('\u001b');
  expect(lines).toContain('w1          0     0  10:\u00b7[2Jmail\u00b7forged');
});

it("prints the broker's answers as JSON", async () => {
  const ask = await start();
  const { code, stdout } = await ask('--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    waiting_messages_by_queue: { mail: 1 },
    connected_workers: { w1: { available_slots: 0 } },
    connected_queues: { default: [[10, 'w1']], mail: [[20, 'w1']] },
    connected_schedulers: { s1: {} },
    memory: { level: 'ok' },
  });
});

it.each([
  ['2 for an unknown protocol', ['--protocol', 'mdp03'], 2, 'emqp'],
  [
    '3 if no Majordomo broker answers',
    ['--protocol', 'mdp', '--connect', 'tcp://127.0.0.1:9', '--timeout-ms', '50'],
    3,
    'no broker',
  ],
  [
    '3 if no queue answers',
    ['--protocol', 'pzq', '--connect', 'tcp://127.0.0.1:9', '--timeout-ms', '50'],
    3,
    'no queue',
  ],
  ['3 if there is no answer', ['--connect', 'tcp://127.0.0.1:9', '--timeout-ms', '50'], 3, 'no answer within 50 ms'],
])('exits with %s', async (_, args, code, why) => {
  const outcome = await programs.run('cli', ['status', ...args]);
  expect(outcome).toMatchObject({ code, stdout: '' });
  expect(outcome.stderr).toContain(why);
});

it.each([
  ['another message', ['', 'eMQP/1.0', 'ACK', 'm', 'm']],
  ['another text', ['', 'eMQP/1.0', 'REPLY', 'm', '[]']],
])('exits with 1 if the answer is %s', async (_, answer) => {
  const router = new Router({ linger: 0 });
  sockets.push(router);
  await router.bind('tcp://127.0.0.1:*');
  const served = (async () => {
    for await (const [id = ''] of router) await router.send([id, ...answer]);
  })();
  const outcome = await programs.run('cli', [
    'status',
    '--connect',
    router.lastEndpoint ?? '',
    '--timeout-ms',
    '60000',
  ]);
  expect(outcome).toMatchObject({ code: 1, stdout: '' });
  expect(outcome.stderr).toContain(router.lastEndpoint);
  router.close();
  await served;
});

it('says what the broker had no room for', async () => {
  const router = new Router({ linger: 0 });
  sockets.push(router);
  await router.bind('tcp://127.0.0.1:*');
  const answers: Readonly<Record<string, object>> = {
    STATUS: { not_shown: { waiting_messages_by_queue: 7 } },
    ROUTER_SHOW_WORKERS: { connected_workers: {}, connected_queues: {}, not_shown: { connected_workers: 2 } },
    ROUTER_SHOW_SCHEDULERS: { connected_schedulers: {} },
  };
  const served = (async () => {
    for await (const [id = '', , , command] of router) {
      const answer = answers[String(command)];
      if (answer !== undefined) await router.send([id, '', 'eMQP/1.0', 'REPLY', 'm', JSON.stringify(answer)]);
    }
  })();
  const { stdout } = await programs.run('cli', [
    'status',
    '--connect',
    router.lastEndpoint ?? '',
    '--protocol',
    'emqp',
  ]);
  expect(stdout.split('\n').slice(-3)).toEqual([
    'not shown: 7 more of waiting_messages_by_queue',
    'not shown: 2 more of connected_workers',
    '',
  ]);
  router.close();
  await served;
});
