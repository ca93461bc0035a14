/** Forwards from one connection to another: a router of ZMTP in TypeScript, or a bare pipe between two TCP sockets. */
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Peer } from '@proj/transport';
import { ZmtpTransport } from '@proj/zmtp';
import { serveMeasurements } from './process-under-test.js';

const port = new ZmtpTransport().router({ peerQueueMax: 10_000 });
const sink: Peer = { key: 'sink', id: Buffer.from('sink') };
const clients = await port.bind('tcp://127.0.0.1:*');
port.start({
  onMessage: (_from, frames) => {
    port.send(sink, frames);
    port.release?.(frames);
  },
  onPeerGone: () => undefined,
  onUndeliverable: () => undefined,
  onRejected: () => undefined,
  onBroken: (error) => {
    throw error;
  },
});

/** The first connection is the sink. */
let first: Socket | undefined;
const server = createServer({ noDelay: true }, (socket) => {
  if (first === undefined) first = socket;
  else socket.pipe(first);
  socket.on('error', () => undefined);
});
server.listen(0, '127.0.0.1', () => {
  const workers = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  serveMeasurements(
    { clients, workers },
    () => 0,
    async () => {
      await port.close();
      server.close();
      first?.destroy();
    },
  );
});
