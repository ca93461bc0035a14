import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { MdpBroker } from '@proj/broker';
import { MdpWorker } from '@proj/worker';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addNodeTypes, Consumer, RESOLUTIONS } from './consumer.js';
import { closure, install, pack, packDependencies, plainEnvironment, runScript, temporaryFolder } from './pack.js';
import type { Manifest } from './workspace.js';
import { PACKAGES, PUBLISHED, ROOT, turboTasks } from './workspace.js';

const NAMES = PUBLISHED.map(({ manifest }) => manifest.name);
let tarballs: ReadonlyMap<string, string>;
const tarball = (name: string): string => tarballs.get(name) ?? expect.fail(`${name} was not packed`);
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  folder = await temporaryFolder();
  tarballs = await pack(PUBLISHED, folder.path);
});

afterAll(() => folder.remove());

/** `.` and the sub-paths that hold code. */
function entries(manifest: Manifest): string[] {
  return Object.keys(manifest.exports ?? {}).filter((path) => path !== './package.json');
}

/** Otherwise a package that no task needs is packed as it was last built or, on a slow machine, empty. */
it('waits for the declarations, and for the build of every package: a dependency of the tests, or named in turbo.json', () => {
  const read = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
  const { devDependencies } = read('tests/package.json') as { devDependencies: Record<string, string> };
  const awaited = turboTasks('.')['@proj/tests#long']?.dependsOn ?? [];
  expect(awaited).toEqual(expect.arrayContaining(['^build', '//#declarations']));
  const missed = NAMES.filter((name) => !(name in devDependencies) && !awaited.includes(`${name}#build`));
  expect(missed).toEqual([]);
});

/** Everything that goes to the registry, including programs. */
const ALL = PACKAGES.filter(({ manifest }) => manifest.private !== true);

it.each(ALL)('$dir says where it comes from: run `npm run manifests`', ({ dir }) => {
  const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Record<string, unknown>;
  const { repository } = read('package.json') as { repository: { url: string } };
  const page = repository.url.replace(/^git\+|\.git$/g, '');
  const manifest = read(join(dir, 'package.json'));
  expect(manifest).toMatchObject({
    repository: { ...repository, directory: dir },
    homepage: `${page}/tree/main/${dir}#readme`,
    bugs: `${page}/issues`,
    publishConfig: { access: 'public' },
    scripts: { prepack: 'node ../../scripts/prepack.mjs' },
  });
  expect(manifest['keywords']).toContain('zeromq');
});

it('refuses to be packed by npm, which would leave workspace ranges in a manifest', async () => {
  const packing = promisify(execFile)('npm', ['pack', '--dry-run'], {
    cwd: join(ROOT, 'packages/heartbeat'),
    env: plainEnvironment(),
  });
  await expect(packing).rejects.toMatchObject({ stderr: expect.stringContaining('npx pnpm@10.34.9 pack') as string });
});

describe.each(NAMES)('%s as packed', (name) => {
  it('has no fault that publint finds', async () => {
    const bytes = readFileSync(tarball(name));
    const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });

  it('resolves to correct types under node10, node16 from CommonJS and ESM, and bundlers', async () => {
    const result = await checkPackage(createPackageFromTarballData(readFileSync(tarball(name))));
    expect(result.types, 'ships types').toMatchObject({ kind: 'included' });
    expect('problems' in result ? result.problems : []).toEqual([]);
  });

  it('contains the build and nothing of the workspace', () => {
    const contents = createPackageFromTarballData(readFileSync(tarball(name)));
    const files = contents.listFiles().map((path) => path.replace(`/node_modules/${name}/`, ''));
    const required = ['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.cjs'];
    expect(
      required.filter((path) => !files.includes(path)),
      'missing files',
    ).toEqual([]);
    expect(files.filter((path) => !/^(dist\/|(LICENSE|README\.md|CHANGELOG\.md|package\.json)$)/.test(path))).toEqual(
      [],
    );
    const manifest = contents.readFile(`/node_modules/${name}/package.json`);
    expect(manifest).not.toMatch(/@proj\/source|workspace:|catalog:|"\.\/src/);
  });
});

describe('@proj/client installed into an empty folder', () => {
  const packages = closure('@proj/client');
  const own = packages.map(({ manifest }) => manifest.name);
  let alone: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    alone = await temporaryFolder();
    await writeFile(join(alone.path, 'package.json'), '{ "private": true }');
    const outside = await packDependencies(packages, folder.path);
    await install([...own.map(tarball), ...outside.values()], alone.path);
  });

  afterAll(() => alone.remove());

  it('brings no broker, no store, no add-on, no web framework', () => {
    const lock = JSON.parse(readFileSync(join(alone.path, 'package-lock.json'), 'utf8')) as { packages: object };
    const installed = Object.keys(lock.packages).flatMap((path) => path.split('node_modules/').at(-1) || []);
    expect(installed.sort()).toEqual([...own, 'zod'].sort());
    expect(readdirSync(join(alone.path, 'node_modules/@proj')).sort()).toEqual([
      'client',
      'frames',
      'heartbeat',
      'transport',
      'zmtp',
    ]);
  });

  it.each([
    ['ESM', 'client.mjs', "import { MdpClient } from '@proj/client';"],
    ['CommonJS', 'client.cjs', "const { MdpClient } = require('@proj/client');"],
  ])('sends a request and gets its reply from %s', async (_kind, file, load) => {
    await using broker = new MdpBroker({ endpoint: 'tcp://127.0.0.1:*' });
    const [endpoint = ''] = await broker.start();
    await using worker = new MdpWorker({ endpoints: [endpoint], service: 'echo', handler: ({ body }) => body });
    await worker.start();
    const text = `${load}
      (async () => {
        const client = new MdpClient({ endpoints: [process.argv[2]], timeoutMs: 10_000 });
        console.log(Buffer.concat(await client.request('echo', ['hello'])).toString());
        await client.close();
      })();`;
    expect(await runScript(alone.path, file, text, [endpoint])).toBe('hello');
  });

  it.each([
    [
      'ESM',
      'bare.mjs',
      "import { MdpClient } from '@proj/client'; import { zmqTransport } from '@proj/transport/zmq';",
    ],
    [
      'CommonJS',
      'bare.cjs',
      "const { MdpClient } = require('@proj/client'); const { zmqTransport } = require('@proj/transport/zmq');",
    ],
  ])('says what to install from %s if libzmq is requested', async (_kind, file, load) => {
    const text = `${load}
      const client = new MdpClient({ endpoints: ['tcp://127.0.0.1:1'], transport: zmqTransport() });
      client.request('echo', ['']).catch(({ code, message }) => console.log(code, message));`;
    expect(await runScript(alone.path, file, text)).toMatch(/^UNAVAILABLE .*npm i zeromq/);
  });

  describe('with all its sisters installed', () => {
    const specifiers = PUBLISHED.flatMap(({ manifest }) =>
      entries(manifest).map((path) => manifest.name + path.slice(1)),
    );
    /** The names that each specifier exports, sorted. */
    let offered: Record<'import' | 'require', Record<string, string>>;

    beforeAll(async () => {
      const manifest = join(alone.path, 'package.json');
      const before = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest;
      const outside = await packDependencies(PUBLISHED, folder.path);
      for (const known of Object.keys(before.dependencies ?? {})) outside.delete(known);
      await install([...NAMES.map(tarball), ...outside.values()], alone.path);
      const names = async (file: string, load: string) => {
        const text = `(async () => {
          const names = {};
          for (const one of ${JSON.stringify(specifiers)}) names[one] = Object.keys(${load}).sort().join();
          console.log(JSON.stringify(names));
        })();`;
        return JSON.parse(await runScript(alone.path, file, text)) as Record<string, string>;
      };
      offered = {
        import: await names('names.mjs', 'await import(one)'),
        require: await names('names.cjs', 'require(one)'),
      };
    });

    it.each(specifiers)('%s exports the same names to import and require', (specifier) => {
      expect(offered.import[specifier]).toMatch(/./);
      expect(offered.require[specifier]).toBe(offered.import[specifier]);
    });

    it('serves, works, queues and asks without zeromq, which is not installed', async () => {
      expect(existsSync(join(alone.path, 'node_modules/zeromq'))).toBe(false);
      const text = `import { MdpBroker } from '@proj/broker';
        import { MdpClient, PzqConsumer, PzqProducer } from '@proj/client';
        import { PzqServer } from '@proj/pzq';
        import { MdpWorker } from '@proj/worker';
        const any = 'tcp://127.0.0.1:*';
        const broker = new MdpBroker({ endpoint: any });
        const endpoints = await broker.start();
        const worker = new MdpWorker({ endpoints, service: 'echo', handler: ({ body }) => body });
        await worker.start();
        const client = new MdpClient({ endpoints });
        const [reply] = await client.request('echo', 'hello');
        const queue = new PzqServer({ store: 'memory:', receive: any, send: any, monitor: any });
        const bound = await queue.start();
        const producer = new PzqProducer({ endpoints: bound.receive });
        const consumer = new PzqConsumer({ endpoints: bound.send });
        await producer.send('kept');
        for await (const message of consumer) {
          console.log(String(reply), String(message.body));
          message.ack();
          break;
        }
        await Promise.all([client, consumer, producer].map((one) => one.close()));
        await Promise.all([worker.drain(), queue.close()]);
        await broker.close();`;
      expect(await runScript(alone.path, 'all.mjs', text)).toBe('hello kept');
    });

    describe.each(Object.entries(RESOLUTIONS))('for a consumer in TypeScript with %s', (_, resolution) => {
      const text = readFileSync(join(ROOT, 'tests/rules/consumer.txt'), 'utf8');
      let consumer: Consumer;

      beforeAll(() => {
        addNodeTypes(alone.path);
        consumer = new Consumer(alone.path, 'consumer.mts', text, resolution);
      });

      it('compiles, with strict and without skipLibCheck', () => {
        expect(consumer.problems()).toEqual([]);
      });

      it('shows comments for options, methods and events', () => {
        const hovers = consumer.hovers();
        expect(hovers.size).toBeGreaterThan(15);
        expect([...hovers].filter(([, words]) => words.length < 20)).toEqual([]);
        expect(hovers.get('timeoutMs')).toMatch(/^Silence after which .* 1 ms to a day.*\n@defaultValue 2500$/);
        expect(hovers.get('serverKey')).toContain('40 characters of Z85');
        expect(hovers.get('liveness')).toContain('@defaultValue 3');
      });
    });

    it('declares @types/node, needed for Buffer, as an optional peer', () => {
      const needy = NAMES.filter((name) => {
        const contents = createPackageFromTarballData(readFileSync(tarball(name)));
        return contents
          .listFiles()
          .some(
            (path) => /\.d\.c?ts$/.test(path) && contents.readFile(path).startsWith('/// <reference types="node" />'),
          );
      });
      const peers = PUBLISHED.filter(({ manifest }) => '@types/node' in (manifest.peerDependencies ?? {}));
      expect(peers.map(({ manifest }) => manifest.name)).toEqual(needy);
      expect(needy).toContain('@proj/client');
    });
  });
});
