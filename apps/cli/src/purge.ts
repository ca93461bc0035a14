/** `proj purge`: removes the waiting messages of a queue. */
import { defineCommand, onOff, text } from '@proj/appkit';
import { ProjError } from '@proj/client';
import type { Model } from '@proj/dashboard/shared';
import * as z from 'zod';
import { confirm } from './confirm.js';
import { queueOptions } from './http/options.js';
import { openProgram } from './http/program.js';

const options = z.strictObject({
  ...queueOptions,
  protocol: text('NAME', 'a protocol that the program serves, such as pzq')
    .default('pzq')
    .describe('protocol of the queue'),
  yes: onOff().default(false).describe('do not ask'),
  json: onOff().default(false).describe('print JSON'),
});

/** Removes the waiting messages of a queue after asking. */
export const purge = defineCommand({
  name: 'purge',
  summary:
    'Remove the waiting messages of a queue over HTTP; messages that consumers have stay. Asks first; needs --token-file.',
  options,
  operands: [{ syntax: '<queue>', help: 'its name, as proj top shows it' }],
  examples: [
    { what: 'the queue of npm start', line: 'pzq --token-file token' },
    { what: 'another one, in a script', line: 'orders --http http://10.0.0.7:8056/ --token-file token --yes' },
  ],
  async run({ settings, operands: [name = ''], stop, print }) {
    const { protocol, yes, json } = settings;
    const program = await openProgram(settings);
    if (!yes) {
      const size = sizeOf(await program.model(stop), protocol, name);
      if (size === undefined)
        throw new ProjError('REJECTED', `${program.url.href}: there is no queue "${name}" of ${protocol}`);
      await confirm({
        what: `This removes the waiting messages of queue ${name}, now ${size}, for good.`,
        word: name,
        stop,
      });
    }
    const result = await program.act({ action: 'purge', protocol, name, confirm: name }, stop);
    print(json ? JSON.stringify(result) : result.text);
    return 0;
  },
});

/** The number of waiting messages in the queue; `undefined` if the program shows no queue of this name. */
function sizeOf({ services, servers }: Model, protocol: string, name: string): number | undefined {
  const row = services[`${protocol}/${name}`];
  if (row !== undefined) return row.waiting;
  // A server need not list its queues.
  const isListed = Object.values(services).some((each) => each.protocol === protocol);
  return isListed ? undefined : servers[protocol]?.gauges['ready'];
}
