import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { drawnGuide, HAS_LIBZMQ, programPath, Programs } from '@proj/appkit/testing';
import { ROUTER_PEER } from '@proj/transport';
import type { CurveOptions } from '@proj/transport';
import { encodeZ85, generateCurveKeys, writeCertificate } from '@proj/transport/curve';
import { zmqTransport } from '@proj/transport/zmq';
import { zmtpTransport } from '@proj/zmtp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const programs = new Programs();
afterEach(() => programs.end());

const FREE = 'tcp://127.0.0.1:*';
const ENDPOINTS = [
  '--mdp',
  '--nfp',
  '--emqp-frontend',
  '--emqp-backend',
  '--emqp-admin',
  '--emqp-publish',
  '--emqp-subscribe',
  '--ppp-frontend',
  '--ppp-backend',
];
const ANY_PORT = ENDPOINTS.flatMap((flag) => [flag, FREE]);
const BOUND = expect.stringMatching(/^tcp:\/\/127\.0\.0\.1:\d+$/) as string;

/** A DEALER that asks one question after the other. */
async function dealerAt(endpoint: string, curve?: CurveOptions) {
  const transport = HAS_LIBZMQ ? zmqTransport() : zmtpTransport();
  await transport.load();
  const dealer = transport.dealer({ ...(curve && { curve }) });
  dealer.connect(endpoint);
  const ignore = () => undefined;
  let take: (frames: Uint8Array[]) => void = ignore;
  const rest = { onPeerGone: ignore, onUndeliverable: ignore, onRejected: ignore, onBroken: ignore };
  dealer.start({ onMessage: (_, frames) => take(frames), ...rest });
  return {
    /** Resolves to the next answer, if there is one. */
    async ask(...texts: string[]): Promise<string[]> {
      const answer = new Promise<Uint8Array[]>((resolve) => (take = resolve));
      dealer.send(
        ROUTER_PEER,
        texts.map((text) => Buffer.from(text)),
      );
      return (await answer).map((frame) => Buffer.from(frame).toString());
    },
    close: () => dealer.close(),
  };
}

/** Sends frames from a DEALER; resolves to the first answer. */
async function answerOf(endpoint: string, ...texts: string[]): Promise<string[]> {
  const dealer = await dealerAt(endpoint);
  const answer = await dealer.ask(...texts);
  await dealer.close();
  return answer;
}

/** What a process prints to standard error at its end: how many MiB its young generation has after work that makes it grow. */
const TELLS_ITS_HEAP = `--import=data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  import { getHeapSpaceStatistics } from 'node:v8';
  process.on('exit', () => {
    let kept = [];
    for (let made = 0; made < 2e6; made++) {
      const object = { made, list: [made] };
      if (made % 100 === 0) kept.push(object);
      if (kept.length > 5000) kept = [];
    }
    writeSync(2, String(getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 2 ** 20));
  });
`)}`;

describe('proj-broker', () => {
  it('grows its young generation to full size at once', async () => {
    const largest = spawnSync(process.execPath, ['--min-semi-space-size=16', TELLS_ITS_HEAP, '-e', ''], {
      encoding: 'utf8',
    });
    // The launcher handles a lone --help; with another option the program does.
    const args = ['--help', '--log-level', 'warn'];
    const { stderr } = await programs.run('broker', args, undefined, { NODE_OPTIONS: TELLS_ITS_HEAP });
    expect(stderr).toBe(largest.stderr);
    expect(stderr).toMatch(/^\d+$/);
  });

  it('logs its endpoints in one line', async () => {
    const broker = programs.start('broker', ANY_PORT);
    expect(await broker.record('listening')).toMatchObject({
      level: 'info',
      name: 'proj-broker',
      endpoints: {
        mdp: BOUND,
        nfp: BOUND,
        emqpFrontend: BOUND,
        emqpBackend: BOUND,
        emqpAdmin: BOUND,
        emqpPublish: BOUND,
        emqpSubscribe: BOUND,
        pppFrontend: BOUND,
        pppBackend: BOUND,
      },
    });
  });

  it.each([
    [
      'an unknown flag',
      ['--mpd', 'x'],
      "proj-broker: unknown option '--mpd' (Did you mean --mdp?): '--help' shows what is allowed",
    ],
    [
      'a bad endpoint',
      ['--mdp', '5555'],
      'proj-broker: --mdp = "5555": must be an endpoint such as tcp://127.0.0.1:5555, ',
    ],
    ['a bad number', ['--liveness', '1'], 'proj-broker: --liveness = 1: must be a whole number, from 2 to 100'],
    [
      'a protocol that is not served here',
      ['--only', 'mdp,pzq'],
      'proj-broker: --only = ["mdp","pzq"]: must be a list of mdp, nfp, emqp, ppp\n',
    ],
    ['an operand', ['start'], 'proj-broker: too many arguments'],
    [
      'polling where it is not supported',
      [...ANY_PORT, '--transport', 'zmq', '--poll-us', '0'],
      'proj-broker: --poll-us: needs --transport zmtp, because libzmq has no such limit',
    ],
    [
      'libzmq on a reachable address',
      ['--only', 'mdp', '--mdp', 'tcp://*:*', '--transport', 'zmq'],
      'proj-broker: --transport zmq at "tcp://*:*": libzmq cannot limit what strangers send; use --transport zmtp, or admit only known keys',
    ],
    [
      'inconsistent options',
      [...ANY_PORT, '--heartbeat-ms', '1000', '--mdp-busy-expiry-ms', '999'],
      'proj-broker: MdpBroker: option busyExpiryMs = 999: must be at least heartbeatIntervalMs',
    ],
  ])('refuses %s with exit code 2 and one line', async (_, args, line) => {
    const { code, stdout, stderr } = await programs.run('broker', args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(line);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('prefers flags to the environment and the environment to the file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'broker-'));
    const config = join(folder, 'broker.yaml');
    writeFileSync(config, 'mdp: ipc:///no/such/folder/socket\nlog-level: debug\nstats-ms: 60000\nonly: [mdp]\n');
    try {
      const env = { PROJ_BROKER_CONFIG: config, PROJ_BROKER_MDP: 'tcp://127.0.0.1:*', PROJ_BROKER_STATS_MS: '1' };
      const broker = programs.start('broker', ['--stats-ms', '5'], env);
      expect(await broker.record('listening')).toMatchObject({
        endpoints: { mdp: expect.stringMatching(/^tcp:/) as string },
      });
      expect(await broker.record('stats')).toMatchObject({ level: 'debug', protocol: 'mdp', workers: 0 });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each(ENDPOINTS)('exits 1 with one line that names an address in use (%s)', async (option) => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const endpoint = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const { code, stderr } = await programs.run('broker', [...ANY_PORT, option, endpoint]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^proj-broker: [^\n]+\n$/);
      expect(stderr).toContain(endpoint);
      expect(stderr).toContain('in use');
    } finally {
      server.close();
    }
  });

  it('serves only the protocols of --only', async () => {
    const broker = programs.start('broker', [...ANY_PORT, '--only', 'ppp']);
    expect(await broker.record('listening')).toMatchObject({ endpoints: { pppFrontend: BOUND, pppBackend: BOUND } });
    expect(await broker.record('listening')).not.toHaveProperty('endpoints.mdp');
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('exits 0 on %s', async (signal) => {
    const { broker } = await programs.startBroker();
    broker.kill(signal);
    expect(await broker.exit).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(await broker.record('drained')).toBeDefined();
  });

  it('exits 0 when an EventMQ console sends DISCONNECT', async () => {
    const { broker, endpoints } = await programs.startBroker();
    const transport = HAS_LIBZMQ ? zmqTransport() : zmtpTransport();
    await transport.load();
    const console = transport.dealer();
    console.connect(endpoints.emqpAdmin);
    const ignore = () => undefined;
    const acknowledged = new Promise<Uint8Array[]>((resolve) => {
      const rest = { onPeerGone: ignore, onUndeliverable: ignore, onRejected: ignore, onBroken: ignore };
      console.start({ onMessage: (_, frames) => resolve(frames), ...rest });
    });
    const frames = ['', 'eMQP/1.0', 'DISCONNECT', 'admin:1'];
    console.send(
      ROUTER_PEER,
      frames.map((frame) => Buffer.from(frame)),
    );
    const text = (frame: Uint8Array): string => Buffer.from(frame).toString();
    expect((await acknowledged).map(text).slice(2)).toEqual(['ACK', expect.any(String), 'admin:1']);
    expect(await broker.exit).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(await broker.record('drained')).toBeDefined();
    await console.close();
  });

  it('reports subscriptions with --emqp-xpub', async () => {
    const { broker, endpoints } = await programs.startBroker('--only', 'emqp', '--emqp-xpub');
    const transport = HAS_LIBZMQ ? zmqTransport() : zmtpTransport();
    await transport.load();
    const subscriber = transport.subscriber();
    subscriber.subscribe(Buffer.from('news.'));
    subscriber.connect(endpoints.emqpSubscribe);
    expect(await broker.record('subscribed')).toMatchObject({ level: 'info', protocol: 'emqp', prefix: 'news.' });
    await subscriber.close();
    expect(await broker.record('unsubscribed')).toMatchObject({ prefix: 'news.' });
  });

  describe('Majordomo and NORFAB', () => {
    const SHUTDOWN = ['', 'NFPC01', '0x06', 'mmi.service.broker', 'all', 'u1', '{"task":"shutdown"}'];

    it('share the endpoint of --mdp unless told otherwise', async () => {
      const { endpoint, broker } = await programs.startBroker('--request-ttl-ms', '100');
      expect((await broker.record('listening'))['endpoints']).toMatchObject({ mdp: endpoint, nfp: endpoint });
      expect(await answerOf(endpoint, 'MDPC02', '\x01', 'mmi.service', 'echo')).toEqual([
        'MDPC02',
        '\x03',
        'mmi.service',
        '404',
      ]);
      expect((await answerOf(endpoint, '', 'NFPC01', '0x04', 'sample', 'all', 'u1', '{}')).slice(0, 6)).toEqual([
        ...['', 'NFPB01', '0x05', 'sample', 'u1', '400'],
      ]);
      expect((await answerOf(endpoint, ...SHUTDOWN))[5]).toBe('400');
    });

    it('--nfp-management-commands lets a client stop the program', async () => {
      const flags = ['--only', 'nfp', '--nfp', FREE, '--nfp-management-commands', '--nfp-dialect', 'legacy'];
      const broker = programs.start('broker', flags);
      const { nfp } = (await broker.record('listening'))['endpoints'] as { nfp: string };
      expect(await answerOf(nfp, ...SHUTDOWN)).toEqual([
        ...['', 'NFPC01', '0x05', 'mmi.service.broker', 'u1', '200', '"shutting down"'],
      ]);
      expect(await broker.exit).toMatchObject({ code: 0, signal: null, stderr: '' });
      expect(await broker.record('drained')).toBeDefined();
    });
  });

  describe('NORFAB: inventory, files, management', () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'nfp-'));
    });
    afterEach(() => {
      rmSync(folder, { recursive: true });
    });

    it('--inventory, --files and --nfp-management serve what they name', async () => {
      const inventory = join(folder, 'inventory.yaml');
      writeFileSync(inventory, "workers:\n  'w*':\n    - user: ${NFP_USER}\n    - note: '{{ 1 + 1 }}'\nlogging: {}\n");
      const flags = [
        '--only',
        'nfp',
        '--nfp',
        FREE,
        '--nfp-management',
        FREE,
        '--inventory',
        inventory,
        '--files',
        folder,
      ];
      const broker = programs.start('broker', flags, { NFP_USER: 'admin' });
      const endpoints = (await broker.record('listening'))['endpoints'] as { nfp: string; nfpManagement: string };
      const ask = async (endpoint: string, service: string, body: object) =>
        (await answerOf(endpoint, '', 'NFPC01', '0x06', service, 'all', 'u1', JSON.stringify(body))).slice(5);
      expect(await ask(endpoints.nfp, 'sid.service.broker', { task: 'get_inventory', kwargs: { name: 'w1' } })).toEqual(
        [...['200', '{"user":"admin","note":"2"}']],
      );
      expect(await ask(endpoints.nfp, 'fss.service.broker', { task: 'walk', kwargs: { url: 'nf://' } })).toEqual([
        ...['200', '["nf://inventory.yaml"]'],
      ]);
      expect((await ask(endpoints.nfp, 'mmi.service.broker', { task: 'shutdown' }))[0]).toBe('400');
      expect(await broker.record('inventory-warning')).toMatchObject({
        level: 'warn',
        warning: expect.stringContaining(inventory) as string,
      });
      expect((await ask(endpoints.nfpManagement, 'mmi.service.broker', { task: 'restart' }))[0]).toBe('200');
      await broker.record('inventory-loaded');
      expect((await ask(endpoints.nfpManagement, 'mmi.service.broker', { task: 'shutdown' }))[0]).toBe('200');
      expect(await broker.exit).toMatchObject({ code: 0, signal: null });
    });

    it('exits with code 1 and one line if an inventory cannot be loaded', async () => {
      const inventory = join(folder, 'inventory.yaml');
      writeFileSync(inventory, 'workers:\n  a:\n    - key: ${NOT_SET}\n');
      const { code, stderr } = await programs.run('broker', [...ANY_PORT, '--inventory', inventory]);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: `proj-broker: ${inventory}:3: workers.a.0.key: variable NOT_SET is not set: set it, or write \${NOT_SET:-default}\n`,
      });
    });

    it('exits with code 2 for a folder that does not exist', async () => {
      const { code, stderr } = await programs.run('broker', [...ANY_PORT, '--files', join(folder, 'none')]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^proj-broker: "[^\n]+none": not a folder[^\n]+\n$/);
    });
  });

  describe('--access', () => {
    const [server, ada] = [generateCurveKeys(), generateCurveKeys()];
    const adaMay = (...request: string[]) => JSON.stringify([{ keys: [encodeZ85(ada.publicKey)], request }]);
    /** Renamed in one step: a file that is being written is empty for a moment. */
    const put = (text: string) => {
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
    };
    const MMI = ['MDPC02', '\x01', 'mmi.service', 'echo'];
    const SHOW = ['', 'NFPC01', '0x06', 'mmi.service.broker', 'all', 'u1', '{"task":"show_broker_version"}'];
    let folder: string;
    let file: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'access-'));
      file = join(folder, 'access.json');
    });
    afterEach(() => {
      rmSync(folder, { recursive: true });
    });

    it('applies access rules, also after the file has changed, and keeps the old rules if it cannot be read', async () => {
      put(adaMay('mmi.services'));
      const { secretFile } = await writeCertificate(join(folder, 'server'), server);
      const ports = ENDPOINTS.filter((flag) => flag !== '--nfp').flatMap((flag) => [flag, FREE]);
      const flags = [...ports, '--transport', 'zmtp', '--curve-secret-key', secretFile];
      const broker = programs.start('broker', [...flags, '--access', file]);
      const { mdp, pppFrontend, emqpAdmin, emqpPublish } = (await broker.record('listening'))['endpoints'] as Record<
        string,
        string
      >;
      const curve = { role: 'client', keys: ada, serverKey: server.publicKey } as const;
      const dealer = await dealerAt(mdp as string, curve);
      const console = await dealerAt(emqpAdmin as string, curve);
      void console.ask('', 'eMQP/1.0', 'STATUS', 'm1');
      await broker.record('message-dropped', { protocol: 'emqp', reason: 'not-allowed', port: 'admin' });
      await console.close();
      const publisher = await dealerAt(emqpPublish as string, curve);
      void publisher.ask('', 'eMQP/1.0', 'PUBLISH', 'm2', 'news', 'hello');
      await broker.record('message-dropped', { protocol: 'emqp', reason: 'not-allowed' });
      await publisher.close();
      const pirate = await dealerAt(pppFrontend as string, curve);
      void pirate.ask('', 'hello');
      await broker.record('request-dropped', { protocol: 'ppp', reason: 'not-allowed' });
      await pirate.close();
      void dealer.ask(...MMI);
      await broker.record('request-dropped', { reason: 'not-allowed', service: 'mmi.service' });
      expect((await dealer.ask(...SHOW))[5]).toBe('400');
      put(`[${adaMay('mmi.service', 'mmi.service.broker').slice(1, -1)},{"keys":"*"}]`);
      await broker.record('access rules', { rules: 2 });
      const answer = ['MDPC02', '\x03', 'mmi.service', '404'];
      expect(await dealer.ask(...MMI)).toEqual(answer);
      expect((await dealer.ask(...SHOW))[5]).toBe('200');
      expect((await dealer.ask(...SHOW.slice(0, -1), '{"task":"show_broker"}')).at(-1)).toContain(
        '"mechanism":"CURVE"',
      );
      put('[{"keys":"nobody"}]');
      expect(await broker.record('access rules were not changed')).toMatchObject({
        level: 'error',
        reason: expect.stringContaining(
          'option access.0.keys = "nobody": must be "*" or a list of public keys',
        ) as string,
      });
      expect(await dealer.ask(...MMI)).toEqual(answer);
      await dealer.close();
    });

    it.each([
      ['does not exist', undefined, [], 'cannot be read: ENOENT'],
      ['is not JSON', 'echo', [], 'must be JSON'],
      ['holds no rules', '{"echo":"ada"}', [], 'must be a list of rules such as [{ keys: "*", request: ["echo"] }]'],
      ['names keys, without encryption', adaMay('echo'), ['--transport', 'zmtp'], 'need --curve-secret-key'],
    ])('refuses a file that %s, with exit code 2 and one line', async (_, text, flags, line) => {
      if (text !== undefined) put(text);
      const all = ['--only', 'mdp', '--mdp', FREE, '--access', file, ...flags];
      const { code, stderr } = await programs.run('broker', all);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^proj-broker: [^\n]+\n$/);
      expect(stderr).toContain(line);
    });

    it('refuses rules for keys if messages do not carry keys', async () => {
      put(adaMay('echo'));
      const { secretFile } = await writeCertificate(join(folder, 'server'), server);
      const flags = ['--only', 'mdp', '--mdp', FREE, '--access', file, '--curve-secret-key', secretFile];
      const { code, stderr } = await programs.run('broker', [...flags, '--transport', 'zmq']);
      expect({ code, stderr }).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--transport zmtp') as string,
      });
    });
  });

  it('drains when its parent at the other end of an IPC channel exits', async () => {
    const broker = fork(programPath('broker'), ANY_PORT, { silent: true });
    await once(broker.stdout as Readable, 'data');
    broker.disconnect();
    expect(await once(broker, 'exit')).toEqual([0, null]);
  });

  it('has a guide with the options of its help', async () => {
    const { guide, drawn } = await drawnGuide('broker');
    expect(guide).toBe(drawn);
  });

  it('explains itself', async () => {
    const { code, stdout } = await programs.run('broker', ['--help']);
    expect(code).toBe(0);
    for (const part of ['--mdp <ENDPOINT>', '(default: tcp://127.0.0.1:5555)', 'Examples:', 'PROJ_BROKER_'])
      expect(stdout).toContain(part);
    expect(await programs.run('broker', ['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    });
  });
});
