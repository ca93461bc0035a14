/**
 * The yardstick of bare-mdp.ts on a ROUTER of ZMTP in TypeScript: the cost of the transport alone, with as many connections.
 */
import type { Peer } from '@proj/transport';
import { ZmtpTransport } from '@proj/zmtp';
import { serveMeasurements } from './process-under-test.js';

const workerHeader = Buffer.from('MDPW02');
const clientHeader = Buffer.from('MDPC02');
const command = { ready: 1, request: Buffer.of(2), final: Buffer.of(3) };
const delimiter = Buffer.alloc(0);
const service = Buffer.from('echo');

const port = new ZmtpTransport().router({ connectionHeartbeatMs: 0 });
const workers: Peer[] = [];
const clients = new Map<string, Peer>();
let turn = 0;

/** A worker's answer begins with the client's routing id; nothing else is known about it. */
function nameOf(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.length).toString('latin1');
}

const endpoint = await port.bind('tcp://127.0.0.1:*');
port.start({
  onMessage(peer, frames) {
    const [header, word, first] = frames as [Uint8Array, Uint8Array, Uint8Array];
    if (header[3] === clientHeader[3]) {
      const worker = workers[turn++ % workers.length];
      const name = nameOf(peer.id);
      if (!clients.has(name)) clients.set(name, peer);
      if (worker !== undefined)
        port.send(worker, [workerHeader, command.request, peer.id, delimiter, ...frames.slice(3)]);
    } else if (word[0] === command.ready) {
      workers.push(peer);
    } else if (frames.length > 3) {
      const client = clients.get(nameOf(first));
      if (client !== undefined) port.send(client, [clientHeader, command.final, service, ...frames.slice(4)]);
    }
  },
  onPeerGone: () => undefined,
  onUndeliverable: () => undefined,
  onRejected: () => undefined,
  onBroken(error) {
    throw error;
  },
});
serveMeasurements(
  { clients: endpoint, workers: endpoint },
  () => workers.length,
  () => port.close(),
);
