/** `proj monitor` with a socket that answers like a queue. */
import { expect, it } from 'vitest';
import { Router } from 'zeromq';
import { run } from './in-process.js';
import { monitor } from '../src/monitor.js';

it('prevents values of a queue from controlling the terminal', async () => {
  const router = new Router({ linger: 0 });
  await router.bind('tcp://127.0.0.1:*');
  const answering = router.receive().then(([id = '', ...frames]) => {
    const envelope = frames.slice(0, -1);
    return router.send([id, ...envelope, Buffer.from('receiver.messages: \u001b[2J\n')]);
  });
  try {
    const { lines } = await run(monitor, [], { connect: [router.lastEndpoint] });
    expect(lines.at(-1)).toMatch(/^receiver\.messages +\u00b7\[2J$/);
    await answering;
  } finally {
    router.close();
  }
});
