/** A process that echoes what it receives: how long that takes under attack is due to the machine, not the program. */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => undefined).pipe(socket);
});
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ msg: 'ready', port: (server.address() as AddressInfo).port }));
});
process.stdin.on('end', () => process.exit()).resume();
