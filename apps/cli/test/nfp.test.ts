import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processTransport } from '@proj/appkit';
import { Programs, TRANSPORTS } from '@proj/appkit/testing';
import { decodeNfpAtWorker, encodeNfp, encodeNfpJson } from '@proj/frames/nfp';
import type { NfpAnswer, NfpWorkerCall } from '@proj/frames/nfp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

type Port = ReturnType<ReturnType<typeof processTransport>['dealer']>;

const programs = new Programs();
const workers: Port[] = [];
let folder: string;
let endpoint: string;
/** Whether jobs of the task `gate` may end. */
let isOpen = false;
/** Called with the uuid of each job that a worker has accepted. */
let onTaken: (uuid: string) => void = () => {};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cli-nfp-'));
  mkdirSync(join(folder, 'served', 'a'), { recursive: true });
  writeFileSync(join(folder, 'served', 'a', 'f.bin'), Buffer.alloc(600_000, 7));
  const { endpoints, registered } = await programs.startBroker(
    '--heartbeat-ms',
    '60000',
    '--nfp-settle-ms',
    '0',
    '--files',
    join(folder, 'served'),
  );
  endpoint = endpoints.mdp;
  // One after the other, since lists show who registered first.
  for (const name of ['w1', 'w2']) {
    workers.push(await startWorker(name));
    await registered(workers.length);
  }
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.close({ lingerMs: 0 })));
  await programs.end();
  rmSync(folder, { recursive: true });
});

/**
 * A worker of service `sample`: `echo` returns its arguments, `fail` fails, `never` does not end, `gate` ends when
 * allowed.
 */
async function startWorker(name: string): Promise<Port> {
  const transport = processTransport(TRANSPORTS[0]);
  await transport.load();
  const port = transport.dealer({ routingId: Buffer.from(name) });
  const tasks = new Map<string, { readonly task: string; readonly [key: string]: unknown }>();
  const send = (call: NfpWorkerCall, status: number, value: unknown, command: NfpAnswer = 'response'): void => {
    const { form, client, uuid } = call;
    const answer = { kind: 'worker-answer', form, command, client, uuid, status, body: encodeNfpJson(value) } as const;
    port.send({ key: '', id: new Uint8Array(0) }, encodeNfp(answer));
  };
  const onCall = (call: NfpWorkerCall): void => {
    const { uuid } = call;
    const own = { worker: name, uuid, service: 'sample' };
    const job = tasks.get(uuid);
    if (call.command === 'mmi') send(call, 200, [{ name }], 'mmi');
    else if (call.command === 'post' && uuid === 'refused')
      send(call, 400, { ...own, status: 'FAILED', errors: ['uuid is in use for another call'] });
    else if (call.command === 'post') {
      tasks.set(uuid, JSON.parse(Buffer.from(call.body[0]!).toString()) as { task: string });
      send(call, 201, { ...own, status: 'ACCEPTED' });
      onTaken(uuid);
      send(call, 200, { ...own, message: 'completed', status: 'completed', severity: 'INFO' }, 'event');
    } else if (job === undefined) send(call, 404, { ...own, status: 'JOB NOT FOUND' });
    else if (call.command === 'delete') send(call, 200, { ...own, status: 'DELETED' });
    else if (job.task === 'never' || (job.task === 'gate' && !isOpen)) send(call, 300, { ...own, status: 'STARTED' });
    else {
      const failed = job.task === 'fail';
      const { args, kwargs } = job;
      const result = failed ? null : { args, kwargs };
      send(call, 200, { [name]: { result, failed, errors: failed ? ['no luck'] : [], status: 'completed' } });
    }
  };
  port.connect(endpoint);
  port.start({
    onMessage: (_, frames) => {
      const command = decodeNfpAtWorker(frames);
      if (command.kind === 'worker-call') onCall(command);
    },
    onPeerGone: () => {},
    onUndeliverable: () => {},
    onRejected: () => {},
    onBroken: () => {},
  });
  port.send({ key: '', id: new Uint8Array(0) }, encodeNfp({ kind: 'worker-ready', form: 'ascii', service: 'sample' }));
  return port;
}

/** Runs `proj` against the broker of this file. */
function proj(...args: string[]) {
  return programs.run('cli', args, '', { PROJ_CLI_CONNECT: endpoint });
}

const sorted = (text: string): string[] => text.trim().split('\n').sort();

describe('proj post --store and proj jobs', () => {
  const store = () => join(folder, 'jobs');
  const lines = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it.each(['SIGKILL', 'SIGINT'] as const)(
    'after %s the job continues, and the next process has its result',
    async (signal) => {
      isOpen = false;
      const taken = new Promise<string>((resolve) => (onTaken = resolve));
      const args = ['post', 'sample', 'gate', '--target', 'w1', '--store', store()];
      const posting = programs.start('cli', args, { PROJ_CLI_CONNECT: endpoint });
      const uuid = await taken;
      posting.kill(signal);
      expect(await posting.exit).toMatchObject(signal === 'SIGKILL' ? { signal } : { code: 130 });
      const waiting = await proj('jobs', '--store', store(), '--no-wait', '--json');
      expect(waiting.code).toBe(0);
      expect(lines(waiting.stdout)).toContainEqual(expect.objectContaining({ uuid, task: 'gate', results: [] }));
      isOpen = true;
      const { code, stdout } = await proj('jobs', '--store', store());
      expect(code).toBe(0);
      expect(stdout).toContain(`${uuid} COMPLETED sample gate\n  w1: {"args":[],"kwargs":{}}\n`);
      const done = await proj('jobs', '--store', store(), '--json');
      expect(lines(done.stdout).find((job) => job['uuid'] === uuid)).toMatchObject({
        ...{ state: 'COMPLETED', service: 'sample', target: 'w1' },
        results: [{ worker: 'w1', status: 200, failed: false }],
      });
    },
  );

  it('waits no longer than it is told, and needs the folder of such jobs', async () => {
    isOpen = false;
    const given = await proj('post', 'sample', 'gate', '--target', 'w1', '--store', store(), '--no-wait');
    expect(given.code).toBe(0);
    const late = await proj('jobs', '--store', store(), '--timeout-ms', '1000');
    expect(late.code).toBe(3);
    expect(late.stdout).toContain(`${given.stdout.trim()} DISPATCHED sample gate\n`);
    isOpen = true;
    expect(await proj('jobs', '--store', store())).toMatchObject({ code: 0 });
    for (const flags of [[], ['--store', join(folder, 'none')]]) {
      const { code, stderr } = await proj('jobs', ...flags);
      expect(code).toBe(2);
      expect(stderr).toContain('must be the folder of proj post --store');
    }
  });
});

describe('proj post', () => {
  it('prints what each worker returns, and its events on request', async () => {
    const { code, stdout, stderr } = await proj(
      'post',
      'sample',
      'echo',
      '1',
      'two',
      '--kwargs',
      '{"k":true}',
      '--events',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const said = '{"args":[1,"two"],"kwargs":{"k":true}}';
    expect(sorted(stdout)).toEqual([`w1: ${said}`, 'w1> completed', `w2: ${said}`, 'w2> completed']);
  });

  it('exits 1 if a task fails, 3 if a worker does not answer in time', async () => {
    const failed = await proj('post', 'sample', 'fail', '--target', 'w1');
    expect(failed).toEqual({ code: 1, stdout: 'w1: failed: no luck\n', stderr: '' });
    const late = await proj('post', 'sample', 'never', '--target', '["w2"]', '--timeout-ms', '6000', '--json');
    expect(late.code).toBe(3);
    expect(JSON.parse(late.stdout)).toMatchObject({ worker: 'w2', status: 408, failed: true });
  });

  it('exits 1 for a service without workers, 2 for invalid arguments', async () => {
    const nobody = await proj('post', 'nobody', 'x');
    expect(nobody.code).toBe(1);
    expect(nobody.stderr).toMatch(/^proj: task "x" of service "nobody": no worker/);
    const wrong = await proj('post', 'sample', 'x', '--kwargs', '[1]');
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
  });

  it('prints the uuid with --no-wait; with it another client gets the result and deletes it', async () => {
    const posted = await proj('post', 'sample', 'echo', '--no-wait', '--target', 'w1');
    expect(posted.stdout).toMatch(/^[0-9a-f]{32}\n$/);
    const uuid = posted.stdout.trim();
    expect(await proj('get', uuid)).toEqual({ code: 0, stdout: 'w1: {"args":[],"kwargs":{}}\n', stderr: '' });
    expect(await proj('delete', uuid, '--service', 'sample')).toMatchObject({ code: 0, stdout: 'w1: DELETED\n' });
    const unknown = await proj('get', 'nobody-knows');
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toContain('none of 2 workers knows the job');
  });

  it('says which workers refuse the job with --no-wait', async () => {
    const posted = await proj('post', 'sample', 'refuse', '--no-wait', '--target', 'w1', '--uuid', 'refused');
    expect(posted).toEqual({ code: 1, stdout: 'w1: failed: uuid is in use for another call\n', stderr: '' });
  });

  it('queries services that have no jobs', async () => {
    const clients = await proj('post', 'mmi.service.broker', 'show_services', '--json');
    expect(JSON.parse(clients.stdout)).toEqual([{ name: 'sample', workers: 2, 'workers alive': 2, queued: 0 }]);
    const refused = await proj('post', 'mmi.service.broker', 'restart');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("management command 'restart' is not enabled");
    const worker = await proj('post', 'mmi.service.worker', 'show_workers', '--target', 'w1');
    expect(worker).toEqual({ code: 0, stdout: 'w1: [{"name":"w1"}]\n', stderr: '' });
    const inventory = await proj('post', 'sid.service.broker', 'get_inventory', 'w1');
    expect(inventory).toMatchObject({ code: 1, stdout: '' });
    expect(inventory.stderr).toContain('the broker has no inventory');
    expect(await proj('post', 'fss.service.broker', 'walk')).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('proj', () => {
  it('lists workers and services of a NORFAB broker', async () => {
    const workers = await proj('workers', '--protocol', 'nfp');
    expect(workers.stdout).toMatch(/^WORKER +SERVICE +STATE .*\nw1 +sample +alive .*\nw2 +sample +alive /);
    const services = await proj('services', '--protocol', 'nfp', '--json');
    expect(JSON.parse(services.stdout)).toEqual([{ name: 'sample', workers: 2, 'workers alive': 2, queued: 0 }]);
  });

  it('fetches a file from the broker, and lists its files', async () => {
    const to = join(folder, 'fetched');
    const { code, stdout } = await proj('fetch', 'nf://a/f.bin', '--to', to, '--json');
    const bytes = readFileSync(join(to, 'f.bin'));
    expect(bytes.equals(Buffer.alloc(600_000, 7))).toBe(true);
    const md5 = createHash('md5').update(bytes).digest('hex');
    expect({ code, file: JSON.parse(stdout) as unknown }).toEqual({
      code: 0,
      file: { path: join(to, 'f.bin'), bytes: 600_000, md5 },
    });
    expect(await proj('fetch', 'nf://a/')).toMatchObject({ code: 0, stdout: 'f.bin\n' });
    expect(await proj('fetch', 'nf://a/none', '--to', to)).toMatchObject({ code: 1, stdout: '' });
  });

  it('reads NORFAB’s messages', async () => {
    const { code, stdout } = await proj('decode', '', '4e4650573031', '30783031', '6563686f');
    expect(code).toBe(0);
    expect(stdout).toContain(
      '{"protocol":"nfp","receiver":"broker","kind":"worker-ready","form":"ascii","service":"echo"}',
    );
  });
});
