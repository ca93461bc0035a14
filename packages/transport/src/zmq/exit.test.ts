/** Whether a process exits: only a separate process can show it. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Bundle } from '@proj/testkit/stores';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Router } from 'zeromq';

const run = promisify(execFile);
/** Nobody listens here: the discard port. */
const NOBODY = 'tcp://127.0.0.1:9';
const LISTENER = `{ onMessage() {}, onPeerGone() {}, onUndeliverable() {}, onRejected() {},
  onBroken(error) { console.log('broken', error.message); } }`;

let bundle: Bundle;
beforeAll(async () => {
  bundle = await Bundle.make({
    packageFolder: fileURLToPath(new URL('../../', import.meta.url)),
    modules: { zmq: 'src/zmq/index.ts' },
    external: ['zeromq'],
  });
});
afterAll(() => bundle.remove());

/** Runs a script to its own end; its output must be what it printed last. */
async function ends(name: string, body: string): Promise<string> {
  const path = await bundle.script(
    name,
    `import { generateKeyPairSync } from 'node:crypto';
    import { zmqTransport } from './zmq.mjs';
    const transport = zmqTransport();
    await transport.load();
    const listener = ${LISTENER};
    const frames = [Buffer.from('hello')];
    ${body}`,
  );
  const { stdout, stderr } = await run(process.execPath, [path], { timeout: 150_000, killSignal: 'SIGKILL' });
  return stdout + stderr;
}

describe('a plain script', () => {
  it('L2: exits by itself after it has opened, used and closed sockets', async () => {
    const output = await ends(
      'use.mjs',
      `const router = transport.router();
      const dealer = transport.dealer();
      dealer.connect(await router.bind('tcp://127.0.0.1:*'));
      const arrived = new Promise((resolve) => {
        router.start({ ...listener, onMessage: (peer, message) => { router.send(peer, message); } });
        dealer.start({ ...listener, onMessage: resolve });
      });
      dealer.send({ key: '', id: frames[0] }, frames);
      await arrived;
      await Promise.all([dealer.close(), router.close()]);
      console.log('closed');`,
    );

    expect(output).toBe('closed\n');
  });

  it('C2: exits by itself after its sockets with CURVE are closed, including the handler of handshakes', async () => {
    const output = await ends(
      'curve.mjs',
      `const pair = () => {
        const der = generateKeyPairSync('x25519').privateKey;
        const { x, d } = der.export({ format: 'jwk' });
        return { publicKey: Buffer.from(x, 'base64url'), secretKey: Buffer.from(d, 'base64url') };
      };
      const keys = pair();
      const router = transport.router({ curve: { role: 'server', keys } });
      const dealer = transport.dealer({ curve: { role: 'client', keys: pair(), serverKey: keys.publicKey } });
      dealer.connect(await router.bind('tcp://127.0.0.1:*'));
      const arrived = new Promise((resolve) => router.start({ ...listener, onMessage: resolve }));
      dealer.start(listener);
      dealer.send({ key: '', id: frames[0] }, frames);
      await arrived;
      await Promise.all([dealer.close(), router.close()]);
      console.log('closed');`,
    );

    expect(output).toBe('closed\n');
  });

  it('L1: exits within the linger although a message could not be delivered', async () => {
    const output = await ends(
      'linger.mjs',
      `const dealer = transport.dealer({ lingerMs: 100 });
      dealer.connect('${NOBODY}');
      dealer.start(listener);
      dealer.send({ key: '', id: frames[0] }, frames);
      await dealer.close();
      console.log('closed');`,
    );

    expect(output).toBe('closed\n');
  });

  it('has sent what it was given when close resolves, even if it exits at once', async () => {
    const router = new Router({ linger: 0 });
    await router.bind('tcp://127.0.0.1:*');
    // More than the kernel has room for.
    const size = 32 << 20;
    const ended = ends(
      'leave.mjs',
      `const dealer = transport.dealer({ lingerMs: 120_000 });
      dealer.connect('${router.lastEndpoint ?? ''}');
      dealer.start({ ...listener, onSent: () => dealer.close().then(() => process.exit(0)) });
      dealer.send({ key: '', id: frames[0] }, [Buffer.alloc(${size})]);`,
    );
    const [, body] = await router.receive();
    expect(body?.length).toBe(size);
    await ended;
    router.close();
  });

  it('exits when sockets were opened and closed without use', async () => {
    const output = await ends(
      'idle.mjs',
      `const router = transport.router();
      const bound = router.bind('tcp://127.0.0.1:*');
      await Promise.all([router.close(), transport.dealer().close()]);
      console.log(await bound.then(() => 'bound', (error) => error.code));`,
    );

    expect(output).toMatch(/^(bound|CLOSED)\n$/);
  });

  it('exits when nothing was opened at all', async () => {
    expect(await ends('none.mjs', `console.log('loaded');`)).toBe('loaded\n');
  });
});
