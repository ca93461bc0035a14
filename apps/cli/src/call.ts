/** `proj call`: one request, and its reply. */
import { defineCommand } from '@proj/appkit';
import type { Context } from '@proj/appkit';
import { ProjError } from '@proj/client';
import { readBody, readStandardInput } from './body.js';
import { callOptions } from './options.js';
import { callables } from './protocols/index.js';
import type { Callable } from './protocols/index.js';
import type { CallSettings, Show } from './question.js';
import { frameForJson, frameForPeople } from './render.js';

/** Sends a request and prints the reply, one line per frame. */
export const call = defineCommand({
  name: 'call',
  summary: 'Send a request to a service and print the reply, one line per frame.',
  options: callOptions,
  operands: [
    { syntax: '[service]', help: 'name of the service; in a protocol without services, all words are frames' },
    { syntax: '[body...]', help: 'one frame each: text, @file, - for standard input; @@x is the text @x' },
  ],
  examples: [
    { what: 'one frame of text', line: 'echo hello' },
    { what: 'the bytes of a file', line: 'sha256 @README.md' },
    { what: 'standard input, the reply as bytes', line: 'echo - --raw <image.png >copy.png' },
    { what: 'for a program', line: 'text-stats @README.md --json' },
    ...Object.values(callables).flatMap(({ examples = [] }: Callable) => examples),
  ],
  async run(context) {
    const { settings, operands, stop } = context;
    const protocol = callables[settings.protocol];
    const service = protocol.hasServices ? operands[0] : undefined;
    if (protocol.hasServices && service === undefined)
      throw new ProjError('OPTIONS_INVALID', "missing required argument 'service': 'proj services' lists the services");
    const body = await readBody(protocol.hasServices ? operands.slice(1) : operands, readStandardInput);
    await protocol.ask({ settings, service, body, stop, show: presenter(context, service) });
    return 0;
  },
});

function presenter({ settings, print }: Context<CallSettings>, service: string | undefined): Show {
  const name = service === undefined ? {} : { service };
  if (settings.json) return (kind, frames) => print(JSON.stringify({ ...name, kind, body: frames.map(frameForJson) }));
  if (settings.raw) return (_, frames) => void process.stdout.write(Buffer.concat(frames));
  return (_, frames) => {
    for (const frame of frames) print(frameForPeople(frame));
  };
}
