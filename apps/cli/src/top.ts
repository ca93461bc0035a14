/** `proj top`: a live view of a program in the terminal, over HTTP or, for a Majordomo broker, over MMI. */
import { setTimeout } from 'node:timers/promises';
import { connectEndpoints, defineCommand, transportOption } from '@proj/appkit';
import { isProjError } from '@proj/client';
import * as z from 'zod';
import { anyProtocol, BROKER, topOptions, wrongProtocol } from './http/options.js';
import { overviewOf } from './http/overview.js';
import { openProgram } from './http/program.js';
import type { ProgramSettings } from './http/program.js';
import { MmiBroker } from './mmi/broker.js';
import { linesOf } from './overview.js';
import type { Overview } from './overview.js';
import { withClient } from './protocols/mdp.js';
import { keysOf } from './top/keys.js';
import { extentOf, Screen } from './top/screen.js';
import { press, START } from './top/state.js';
import type { View } from './top/state.js';
import { DrawnTerminal, hasTerminal } from './top/terminal.js';

const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 8000;

/** Attempts per question, as with `proj services`. */
const TRIES = 3;

/** Where the data come from. Rejects with a `ProjError`. */
interface Source {
  /** The program now. */
  overview(stop: AbortSignal): Promise<Overview>;
  /** The program, again every second, until the connection is lost. */
  overviews(stop: AbortSignal): AsyncGenerator<Overview, void, undefined>;
}

const options = z.strictObject({
  ...topOptions,
  connect: connectEndpoints()
    .optional()
    .describe(
      'without --http: Majordomo brokers to ask over MMI, in order of preference; only brokers of this project list their services',
    ),
  protocol: anyProtocol().default('mdp').describe('without --http: mdp or mdp01, Majordomo 0.2 or 0.1'),
  transport: transportOption(),
});

/** Follows a program until the user quits. */
export const top = defineCommand({
  name: 'top',
  summary:
    'Follow a program in the terminal, once a second: its faults, services, queues, workers and clients over HTTP, or the services and workers of a Majordomo broker over MMI. The key ? lists the others.',
  options,
  examples: [
    { what: 'the broker of npm start', line: '' },
    { what: 'its queue', line: '--http http://127.0.0.1:8056/' },
    { what: 'a program on another machine', line: '--http http://10.0.0.7:8055/ --token-file token' },
    { what: 'a Majordomo broker without --http', line: '--connect tcp://10.0.0.7:5555' },
    { what: 'once, as text', line: '| cat' },
  ],
  async run({ settings, stop, print }) {
    const { http, connect, protocol } = settings;
    const show = (source: Source) => (hasTerminal() ? follow(source, stop) : printOnce(source, stop, print));
    if (http !== undefined || connect === undefined) await show(await overHttp({ ...settings, http: http ?? BROKER }));
    else if (protocol !== 'mdp' && protocol !== 'mdp01') throw wrongProtocol(protocol, ['mdp', 'mdp01']);
    else
      await withClient({ ...settings, connect, protocol, tries: TRIES }, stop, undefined, ({ client }) =>
        show(new MmiBroker(client, connect.join(', '))),
      );
    return 0;
  },
});

async function overHttp(settings: ProgramSettings): Promise<Source> {
  const program = await openProgram(settings);
  return {
    overview: async (stop) => overviewOf(await program.model(stop)),
    async *overviews(stop) {
      for await (const model of program.models(stop)) yield overviewOf(model);
    },
  };
}

async function printOnce(source: Source, stop: AbortSignal, print: (line: string) => void): Promise<void> {
  for (const line of linesOf(await source.overview(stop))) print(line);
}

/** Rejects like the first connection, and with the reason of `stop`; later connections are retried. */
async function follow(source: Source, stop: AbortSignal): Promise<void> {
  const quit = new AbortController();
  const end = AbortSignal.any([stop, quit.signal]);
  const isOver = () => end.aborted;
  let overviews = source.overviews(end);
  const first = await overviews.next();
  if (first.done === true) return;
  let overview = first.value;
  let view: View = START;
  const screen = new Screen(process.env['NO_COLOR'] === undefined || process.env['NO_COLOR'] === '');
  const draw = () => {
    terminal.draw(screen.draw(overview, terminal.size, view));
  };
  const onTyped = (text: string) => {
    for (const key of keysOf(text)) {
      const next = press(view, key, extentOf(overview, terminal.size, view));
      if (next === undefined) quit.abort();
      else view = next;
    }
    draw();
  };
  using terminal = new DrawnTerminal({ onTyped, onChanged: draw });
  draw();
  for (let delayMs = RETRY_FIRST_MS; !isOver(); overviews = source.overviews(end)) {
    try {
      for await (overview of overviews) {
        delayMs = RETRY_FIRST_MS;
        view = { ...view, lost: undefined };
        draw();
      }
    } catch (error) {
      if (isOver()) break;
      if (!isProjError(error)) throw error;
      view = { ...view, lost: error.message };
      draw();
    }
    await setTimeout(delayMs, undefined, { signal: end }).catch(() => undefined);
    delayMs = Math.min(delayMs * 2, RETRY_MAX_MS);
  }
  stop.throwIfAborted();
}
