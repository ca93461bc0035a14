/** A process that sends back what it gets: how long that takes under attack is the machine's doing, not the program's. */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => undefined).pipe(socket);
});
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ msg: 'ready', port: (server.address() as AddressInfo).port }));
});
process.stdin.on('end', () => process.exit()).resume();
