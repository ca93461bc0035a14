/**
 * Builds the images of deploy/ without a daemon, runs them, and checks units and manifests: `npm run test:deploy`, as root on Debian with buildah,
 * debootstrap and systemd. What is missing is skipped and said; a failure ends with exit code 1. `PROJ_DEPLOY_BASE` names a base image to use.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const deploy = dirname(fileURLToPath(import.meta.url));
const root = dirname(deploy);
const cache = join(root, 'node_modules', '.cache', 'proj-deploy');
const scratch = mkdtempSync(join(tmpdir(), 'proj-deploy-'));
const APPS = ['broker', 'queue', 'worker', 'scheduler'];
const TOOLS = ['dockerfilelint@1.8.0', 'kubernetes-models@5.1.0'];
/** Complaints of dockerfilelint that are not so: the tag is in the build argument, and HEALTHCHECK has options. */
const NO_ISSUES = ['Base Image Missing Tag', 'Invalid Argument Format'];
const MAX_MB = 12;

let failures = 0;
const skipped = [
  'hadolint (not among the packages of Debian or npm)',
  'a Kubernetes cluster, `kustomize build`, `docker compose up` (no daemon)',
];

function sh(command, args, options = {}) {
  return execFileSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 1 << 28,
    ...options,
  });
}

function has(command) {
  return spawnSync('which', [command]).status === 0;
}

async function step(name, action) {
  try {
    const note = await action();
    console.log(`ok    ${name}${note === undefined ? '' : `: ${note}`}`);
  } catch (error) {
    failures += 1;
    console.log(
      `FAIL  ${name}: ${String(error.stderr || error.message)
        .trim()
        .split('\n')
        .slice(-12)
        .join('\n      ')}`,
    );
  }
}

/** Makes the tarball of a program, and the folder its image is built from. */
function pack(app) {
  const context = join(scratch, app);
  mkdirSync(context);
  const pnpm = join(root, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs');
  sh(process.execPath, [pnpm, 'pack', '--pack-destination', context], { cwd: join(root, 'apps', app) });
  const [tarball] = readdirSync(context);
  cpSync(join(context, tarball), join(context, 'program.tgz'));
  cpSync(join(deploy, 'health.mjs'), join(context, 'health.mjs'));
  return context;
}

/** Installs a tarball in an empty folder; also fills the cache that the image is built from. Its size in MB. */
function install(app, context) {
  const folder = join(scratch, `${app}-installed`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const extra = app === 'scheduler' ? ['lmdb@3.5.6'] : [];
  const npm = (...names) =>
    sh('npm', ['install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', ...names], { cwd: folder });
  npm(join(context, 'program.tgz'));
  const bytes = sizeOf(join(folder, 'node_modules'));
  const bin = join(folder, 'node_modules', '.bin', `proj-${app}`);
  if (!sh(bin, ['--version']).trim()) throw new Error(`${bin} --version prints nothing`);
  if (extra.length > 0) npm(...extra);
  return bytes / 1e6;
}

function sizeOf(path) {
  const { size } = statSync(path);
  return statSync(path).isFile() ? size : readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

/** A minimal Debian with the node of this machine, as no registry of images need be reachable. */
function makeBase() {
  const named = process.env['PROJ_DEPLOY_BASE'];
  if (named !== undefined) return named;
  const image = `localhost/proj-deploy-base:${process.version}`;
  if (spawnSync('buildah', ['images', '-q', image]).status === 0) return image;
  const folder = join(scratch, 'base');
  sh('debootstrap', ['--variant=minbase', '--include=ca-certificates,libstdc++6', 'stable', folder]);
  cpSync(process.execPath, join(folder, 'usr/bin/node'));
  const npm = sh('npm', ['root', '-g']).trim();
  cpSync(join(npm, 'npm'), join(folder, 'usr/lib/node_modules/npm'), { recursive: true });
  sh('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'usr/bin/npm')]);
  const container = sh('buildah', ['from', 'scratch']).trim();
  sh('buildah', ['add', '-q', container, folder, '/']);
  sh('buildah', ['commit', '-q', '--rm', container, image]);
  return image;
}

function build(app, context, base) {
  const npmCache = sh('npm', ['config', 'get', 'cache']).trim();
  const args = [
    '--build-arg',
    `BASE=${base}`,
    '--build-arg',
    'NPM_FLAGS=--offline',
    '--volume',
    `${npmCache}:/root/.npm`,
  ];
  const file = join(deploy, 'images', `${app}.Dockerfile`);
  sh('buildah', [
    'bud',
    '--isolation',
    'chroot',
    '--format',
    'docker',
    ...args,
    '-t',
    `localhost/proj-${app}`,
    '-f',
    file,
    context,
  ]);
}

const running = [];

/** Starts an image as it says, in a chroot: its user, its entry point, its environment; nothing can be written but /tmp and the volume. */
async function start(app, settings, args = []) {
  const { config } = JSON.parse(sh('buildah', ['inspect', '--type', 'image', `localhost/proj-${app}`])).OCIv1;
  const container = sh('buildah', ['from', `localhost/proj-${app}`]).trim();
  const folder = sh('buildah', ['mount', container]).trim();
  const [uid] = config.User.split(':');
  if (!(Number(uid) > 0)) throw new Error(`the image of ${app} runs as ${config.User}`);
  const volumes = Object.keys(config.Volumes ?? {});
  const script = [
    'set -e',
    'mount --bind "$0" "$0"',
    'mount --rbind /dev "$0/dev"',
    'mount -t proc proc "$0/proc"',
    'mount -t tmpfs tmpfs "$0/tmp"',
    ...volumes.map((path) => `mount -t tmpfs -o uid=${uid},gid=${uid},mode=0750 tmpfs "$0${path}"`),
    'mount -o remount,ro,bind "$0"',
    `exec chroot --userspec=${config.User} "$0" "$@"`,
  ].join('\n');
  const env = Object.fromEntries(
    config.Env.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
  const command = [
    '--mount',
    '--pid',
    '--fork',
    '--kill-child=SIGKILL',
    'sh',
    '-c',
    script,
    folder,
    ...config.Entrypoint,
    ...args,
  ];
  const child = spawn('unshare', command, {
    env: { PATH: process.env['PATH'], ...env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const watchers = new Set();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
      for (const watcher of watchers) watcher();
    });
  const ended = new Promise((done) => child.once('exit', done));
  const line = (pattern) =>
    new Promise((found, failed) => {
      const look = () => {
        if (pattern.test(output)) found();
      };
      watchers.add(look);
      look();
      void ended.then(() => failed(new Error(`${app} has ended: ${output}`)));
      setTimeout(() => failed(new Error(`${app} does not say ${pattern}: ${output}`)), 15_000).unref();
    });
  const life = { line, ended, output: () => output, container, child };
  running.push(life);
  return life;
}

/** SIGTERM to the program, which is process 1 of its own namespace, as in a container. */
async function stop({ child, ended }) {
  const pids = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ');
  for (const pid of pids) if (pid !== '') process.kill(Number(pid), 'SIGTERM');
  const code = await ended;
  if (code !== 0) throw new Error(`SIGTERM ended it with ${code}`);
}

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

function proj(...args) {
  return sh(process.execPath, [join(root, 'apps/cli/dist/main.js'), ...args]).trim();
}

function expectText(text, expected) {
  if (!text.includes(expected)) throw new Error(`expected ${expected}, got ${text}`);
}

async function runImages() {
  const endpoints = {};
  for (const name of [
    'mdp',
    'frontend',
    'backend',
    'admin',
    'publish',
    'subscribe',
    'receive',
    'send',
    'monitor',
    'http',
  ])
    endpoints[name] = `tcp://127.0.0.1:${await freePort()}`;
  const address = endpoints.http.slice('tcp://'.length);
  const knowsHttp = sh(process.execPath, [join(root, 'apps/broker/dist/main.js'), '--help']).includes('--http ');
  const own = {};
  for (const app of ['WORKER', 'QUEUE', 'SCHEDULER'])
    own[app] = { [`PROJ_${app}_HTTP`]: `127.0.0.1:${await freePort()}` };
  const broker = await start('broker', {
    PROJ_BROKER_ONLY: 'mdp,emqp',
    PROJ_BROKER_MDP: endpoints.mdp,
    PROJ_BROKER_EMQP_FRONTEND: endpoints.frontend,
    PROJ_BROKER_EMQP_BACKEND: endpoints.backend,
    PROJ_BROKER_EMQP_ADMIN: endpoints.admin,
    PROJ_BROKER_EMQP_PUBLISH: endpoints.publish,
    PROJ_BROKER_EMQP_SUBSCRIBE: endpoints.subscribe,
    PROJ_BROKER_HTTP: address,
  });
  await broker.line(/"listening"/);
  let worker, queue, scheduler;
  await step('broker and worker images: a request, non-root, on a read-only root', async () => {
    worker = await start('worker', { PROJ_WORKER_CONNECT: endpoints.mdp, ...own.WORKER }, ['--service', 'echo']);
    expectText(proj('call', 'echo', 'hello', '--connect', endpoints.mdp, '--timeout-ms', '10000'), 'hello');
  });
  await step('queue image: a message stored on its volume and delivered', async () => {
    const { receive, send, monitor } = endpoints;
    queue = await start('queue', {
      PROJ_QUEUE_RECEIVE: receive,
      PROJ_QUEUE_SEND: send,
      PROJ_QUEUE_MONITOR: monitor,
      ...own.QUEUE,
    });
    await queue.line(/"listening"/);
    proj('push', 'kept', '--connect', receive);
    expectText(proj('pull', '--connect', send), 'kept');
  });
  await step('scheduler image: a job scheduled', async () => {
    scheduler = await start('scheduler', { PROJ_SCHEDULER_CONNECT: endpoints.frontend, ...own.SCHEDULER });
    await scheduler.line(/registered/);
    proj('schedule', 'default', 'jobs.echo', '--interval', '3600', '--connect', endpoints.frontend);
    await scheduler.line(/jobs\.echo|"(job-)?(scheduled|added)"/);
  });
  if (knowsHttp)
    await step('the health check of the images', () => {
      for (const path of ['healthz', 'readyz']) sh(process.execPath, [join(deploy, 'health.mjs'), path, address]);
    });
  else skipped.push('the health check of the images: the programs have no --http');
  await step('SIGTERM drains each image, exit code 0', async () => {
    for (const life of [worker, queue, scheduler, broker]) if (life !== undefined) await stop(life);
  });
}

async function lintDockerfiles() {
  const found = APPS.map((app) => {
    const file = join(deploy, 'images', `${app}.Dockerfile`);
    const { stdout } = spawnSync(join(cache, 'node_modules/.bin/dockerfilelint'), ['-o', 'json', file], {
      encoding: 'utf8',
    });
    const { files } = JSON.parse(stdout);
    return files[0].issues
      .filter(({ title }) => !NO_ISSUES.includes(title))
      .map(({ line, title }) => `${app} line ${line}: ${title}`);
  });
  if (found.flat().length > 0) throw new Error(found.flat().join('\n'));
  return 'dockerfilelint';
}

/** Each document against the schema of its kind. */
async function checkManifests() {
  const { parseAllDocuments } = createRequire(join(root, 'packages/appkit/package.json'))('yaml');
  const folder = join(deploy, 'kustomize');
  const { resources } = parseAllDocuments(readFileSync(join(folder, 'kustomization.yaml'), 'utf8'))[0].toJS();
  let count = 0;
  for (const file of resources)
    for (const document of parseAllDocuments(readFileSync(join(folder, file), 'utf8'))) {
      if (document.errors.length > 0) throw document.errors[0];
      const manifest = document.toJS();
      const file = join(cache, 'node_modules/kubernetes-models', manifest.apiVersion, `${manifest.kind}.js`);
      const { [manifest.kind]: model } = await import(pathToFileURL(file).href);
      new model(manifest).validate();
      count += 1;
    }
  return `${count} documents`;
}

/** Every PROJ_ variable of images and manifests is an option of its program. */
function checkVariables() {
  const unknown = [];
  const files = [
    ...readdirSync(join(deploy, 'images')).map((name) => join('images', name)),
    ...['broker', 'worker', 'queue'].map((name) => `kustomize/${name}.yaml`),
  ];
  for (const file of files)
    for (const [name, app, option] of readFileSync(join(deploy, file), 'utf8').matchAll(/PROJ_([A-Z]+)_([A-Z_]+)/g)) {
      const help = sh(process.execPath, [join(root, 'apps', app.toLowerCase(), 'dist/main.js'), '--help']);
      if (option !== 'HTTP' && !help.includes(`--${option.toLowerCase().replaceAll('_', '-')} `))
        unknown.push(`${basename(file)}: ${name}`);
    }
  if (unknown.length > 0) throw new Error(unknown.join(', '));
}

/** The units as they are. Their programs are started through `env`, so they need not be installed. */
function verifyUnits() {
  const folder = join(deploy, 'systemd');
  const units = readdirSync(folder).map((name) => join(folder, name));
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8' });
  if (status !== 0 || /proj-/.test(stderr)) throw new Error(stderr);
  return `${units.length} units`;
}

try {
  mkdirSync(cache, { recursive: true });
  if (!existsSync(join(cache, 'package.json'))) writeFileSync(join(cache, 'package.json'), '{ "private": true }');
  await step(
    'linters installed',
    () =>
      void sh('npm', ['install', '--ignore-scripts', '--engine-strict=false', '--no-audit', '--no-fund', ...TOOLS], {
        cwd: cache,
      }),
  );
  await step('Dockerfiles', lintDockerfiles);
  await step('manifests against the schemas of Kubernetes', checkManifests);
  await step('options in images and manifests', checkVariables);
  if (has('systemd-analyze')) await step('units by systemd-analyze verify', verifyUnits);
  else skipped.push('systemd units: no systemd-analyze');
  if (!existsSync('/run/systemd/system')) skipped.push('a unit under a running systemd: this machine is not run by it');
  const contexts = {};
  for (const app of [...APPS, 'cli'])
    await step(`${app}: installed from its tarball`, () => {
      contexts[app] = pack(app);
      if (app === 'cli') return;
      const size = install(app, contexts[app]);
      if (app !== 'queue' && size > MAX_MB) throw new Error(`${size.toFixed(1)} MB, more than ${MAX_MB}`);
      return `${size.toFixed(1)} MB`;
    });
  if (process.getuid?.() === 0 && has('buildah') && has('debootstrap')) {
    let base;
    await step('base image', () => (base = makeBase()));
    for (const app of APPS) await step(`${app}: image built by buildah`, () => build(app, contexts[app], base));
    await runImages();
  } else skipped.push('images: they need root, buildah and debootstrap');
} finally {
  for (const { child, container } of running) {
    child.kill('SIGKILL');
    spawnSync('buildah', ['rm', container]);
  }
  rmSync(scratch, { recursive: true, force: true });
}
for (const each of skipped) console.log(`not run: ${each}`);
process.exitCode = failures === 0 ? 0 : 1;
