/** Options of the commands that use a program's HTTP interface. */
import { oneOf, text, withinADay } from '@proj/appkit';
import { ProjError } from '@proj/client';
import { protocolNames } from '../protocols/index.js';

/** Where `npm start` serves its broker and its queue. */
export const BROKER = 'http://127.0.0.1:8055/';
const QUEUE = 'http://127.0.0.1:8056/';

const limit = () => withinADay();
const url = () => text('URL', 'an address such as http://127.0.0.1:8055/');

/** The protocol of a command that also works over HTTP, where it does not matter: a variable may name one for other commands. */
export const anyProtocol = () => oneOf(protocolNames);

/** What such a command says without HTTP if it cannot use the protocol. */
export function wrongProtocol(protocol: string, usable: readonly string[]): ProjError {
  const rule = `must be one of ${usable.join(', ')} without --http`;
  return new ProjError('OPTIONS_INVALID', `--protocol = "${protocol}": ${rule}`);
}

/** Options of commands that look at any program. */
export const programOptions = {
  http: url().default(BROKER).describe('address of a program, its --http'),
  tokenFile: text('FILE', 'a readable file')
    .optional()
    .describe('file with the token of the program, its --http-token-file'),
  timeoutMs: limit().default(2500).describe('how long an answer may take'),
};

/** The same for a queue, for queries and actions. */
export const queueOptions = {
  ...programOptions,
  http: url().default(QUEUE).describe('address of the queue, its --http'),
  timeoutMs: limit().optional().describe('how long an answer may take (default: 2500, for an action 60000)'),
};

/** The same for `proj top`, which can also use another protocol. */
export const topOptions = {
  ...programOptions,
  http: url().optional().describe(`address of a program, its --http (default: ${BROKER})`),
};

/** The same for a command that uses HTTP only on request. */
export const maybeProgramOptions = {
  http: url().optional().describe('ask any program of this project over HTTP: its --http address'),
  tokenFile: programOptions.tokenFile,
};
