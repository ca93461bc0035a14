/** The NULL mechanism of 37/ZMTP: both sides say READY at once, nobody proves anything. */
import { encodeCommand } from './commands.js';
import { unexpected } from './mechanism.js';
import type { Security } from './mechanism.js';

/** No authentication, no encryption. */
export const NULL: Security = {
  name: 'NULL',
  asServer: false,
  handshake: (properties) => ({
    begin: () => encodeCommand('READY', properties),
    step: (name, data) => (name === 'READY' ? { met: { properties: data } } : unexpected(name, 'READY')),
  }),
};
