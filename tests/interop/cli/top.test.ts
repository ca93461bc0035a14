// `proj top` and `proj purge` in a pseudo terminal: their output, keys, a lost connection, and a restored terminal however they end.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FAKE_TOKEN, fakeApi } from '@proj/dashboard/fake-server';
import type { FakeApi } from '@proj/dashboard/fake-server';
import { peerGroup } from '@proj/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { program } from '../../chaos/programs.js';
import { openTerminal } from './terminal.js';
import type { Terminal } from './terminal.js';

const PROJ = fileURLToPath(new URL('../../../apps/cli/dist/main.js', import.meta.url));
const RIGHT = '\x1b[C';

let api: FakeApi;
let url: string;
let close: () => void;
beforeEach(async () => {
  api = fakeApi({ services: 200, workers: 50, clients: 10 });
  const server = createServer((request, response) => {
    api.handle(request, response, () => response.end(JSON.stringify(api.program.model)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  close = () => {
    api.close();
    server.closeAllConnections();
    server.close();
  };
});
afterEach(() => {
  close();
});

const peers = peerGroup();

/** `proj top` once it is drawn. */
async function openTop(...args: readonly string[]): Promise<Terminal> {
  const terminal = openTerminal(peers, [process.execPath, PROJ, 'top', '--http', url, ...args]);
  await terminal.shows('[Services ');
  return terminal;
}

/** The terminal as a shell needs it: echo, whole lines, the cursor, the previous screen. */
const RESTORED = { echo: true, canonical: true };

async function expectRestored(terminal: Terminal): Promise<number> {
  const { code, tail, ...modes } = await terminal.ended;
  expect(modes).toMatchObject(RESTORED);
  expect(tail).toContain('\x1b[?25h\x1b[?1049l');
  return code as number;
}

it('shows tables, reacts to keys, follows the size of the terminal, and ends with q', async () => {
  const top = await openTop();
  await top.shows('1 to ');
  top.type(RIGHT + RIGHT);
  await top.shows('[Workers ');
  await top.shows('WORKER ');
  top.type('/gold-0003\r');
  await top.shows('of 1 with "gold-0003"');
  top.type('?');
  await top.shows('Escape clears it');
  top.type(' ');
  top.resize(40, 12);
  // In 100 columns there is room to explain the keys.
  await top.shows('1 to 1 of 1 with "gold-0003"   q quit  \u2026');
  top.type('q');
  expect(await expectRestored(top)).toBe(0);
});

it('shows new figures every second', async () => {
  const top = await openTop();
  api.program.killWorker(Object.keys(api.program.model.workers)[5]!);
  top.type(RIGHT + RIGHT);
  await top.shows('Workers 49');
  top.type('\x03');
  expect(await expectRestored(top)).toBe(0);
});

it('reconnects after a lost connection', async () => {
  const top = await openTop();
  api.cut();
  await top.shows('no connection, trying again');
  await top.shows('requests/s');
  top.type('q');
  expect(await expectRestored(top)).toBe(0);
});

it('follows a Majordomo broker over MMI, with the same keys, until it is lost', async () => {
  const broker = peers.launch(program('broker', { only: 'mdp', mdp: 'tcp://127.0.0.1:*' }));
  const { mdp } = (await broker.line('listening'))['endpoints'] as { readonly mdp: string };
  const top = openTerminal(peers, [process.execPath, PROJ, 'top', '--connect', mdp, '--timeout-ms', '1000']);
  await top.shows('[Services 0]');
  await top.shows('0 waiting, 0 running, 0 workers');
  peers.launch(program('worker', { connect: mdp, service: 'echo' }));
  await top.shows('[Services 1]');
  await top.shows('0 requests/s');
  top.type(RIGHT);
  await top.shows('[Workers 1]');
  broker.kill('SIGKILL');
  await top.shows('no connection, trying again');
  top.type('q');
  expect(await expectRestored(top)).toBe(0);
});

it.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const)('restores the terminal at %s', async (signal, code) => {
  const top = await openTop();
  top.signal(signal);
  expect(await expectRestored(top)).toBe(code);
});

it('says on the previous screen why it cannot start', async () => {
  close();
  const top = openTerminal(peers, [process.execPath, PROJ, 'top', '--http', url]);
  await top.shows('cannot be reached');
  expect(await top.ended).toMatchObject({ code: 1, ...RESTORED });
});

it.each([
  ['orders', 0, 'orders is empty.'],
  ['yes', 2, 'not confirmed: nothing was done'],
])('proj purge asks for the name of the queue; with %s it ends with %i', async (answer, code, said) => {
  const folder = mkdtempSync(join(tmpdir(), 'purge-'));
  const token = join(folder, 'token');
  writeFileSync(token, FAKE_TOKEN);
  const command = [PROJ, 'purge', 'orders', '--http', url, '--token-file', token];
  const terminal = openTerminal(peers, [process.execPath, ...command]);
  await terminal.shows('Type orders to confirm: ');
  terminal.type(`${answer}\r`);
  await terminal.shows(said);
  expect(await terminal.ended).toMatchObject({ code });
  rmSync(folder, { recursive: true });
});
