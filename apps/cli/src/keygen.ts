/** `proj keygen`: a key pair for CURVE. */
import { defineCommand, onOff, writeKeyPair } from '@proj/appkit';
import { ProjError } from '@proj/client';
import * as z from 'zod';

/** Writes a certificate pair and prints the public key. */
export const keygen = defineCommand({
  name: 'keygen',
  summary: 'Create a key pair for encryption: NAME.key, to share, and NAME.key_secret, to keep secret.',
  options: z.strictObject({ json: onOff().default(false).describe('print JSON') }),
  operands: [
    { syntax: '<name>', help: 'path of the files without their extensions; existing files are not overwritten' },
  ],
  examples: [
    { what: 'the keys of a broker: clients need broker.key', line: 'broker' },
    { what: 'the keys of a client: the broker needs clients/ada.key', line: 'clients/ada' },
  ],
  async run({ settings, operands, print }) {
    const [name] = operands;
    if (name === undefined) throw new ProjError('OPTIONS_INVALID', "missing required argument 'name'");
    const { publicFile, secretFile, publicKey } = await writeKeyPair(name);
    if (settings.json) print(JSON.stringify({ publicFile, secretFile, publicKey }));
    else print(`${publicFile}: ${publicKey}\n${secretFile}: keep it secret`);
    return 0;
  },
});
