/** The NULL mechanism of 37/ZMTP: both sides send READY at once, without authentication. */
import { encodeCommand } from '../framing/commands.js';
import { inOrder } from './mechanism.js';
import type { Security } from './mechanism.js';

/** No authentication, no encryption. */
export const NULL: Security = {
  name: 'NULL',
  asServer: false,
  handshake: (properties) =>
    inOrder('NULL, READY sent', {
      begin: () => encodeCommand('READY', properties),
      step: (_, data) => ({ met: { properties: data } }),
    }),
};
