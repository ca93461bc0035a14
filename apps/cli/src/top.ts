/** `proj top`: a live view of a program in the terminal. */
import { setTimeout } from 'node:timers/promises';
import { defineCommand } from '@proj/appkit';
import { isProjError } from '@proj/client';
import type { Model } from '@proj/dashboard/shared';
import * as z from 'zod';
import { programOptions } from './http/options.js';
import { overview } from './http/overview.js';
import { openProgram } from './http/program.js';
import type { RemoteProgram } from './http/program.js';
import { keysOf } from './top/keys.js';
import { extentOf, Screen } from './top/screen.js';
import { press, START } from './top/state.js';
import type { View } from './top/state.js';
import { DrawnTerminal, hasTerminal } from './top/terminal.js';

const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 8000;

/** Follows a program until the user quits. */
export const top = defineCommand({
  name: 'top',
  summary:
    'Follow a program over HTTP in the terminal: its faults, services, queues, workers and clients, once a second. The key ? lists the others.',
  options: z.strictObject(programOptions),
  examples: [
    { what: 'the broker of npm start', line: '' },
    { what: 'its queue', line: '--http http://127.0.0.1:8056/' },
    { what: 'a program on another machine', line: '--http http://10.0.0.7:8055/ --token-file token' },
    { what: 'once, as text', line: '| cat' },
  ],
  async run({ settings, stop, print }) {
    const program = await openProgram(settings);
    if (hasTerminal()) await follow(program, stop);
    else for (const line of overview(await program.model(stop))) print(line);
    return 0;
  },
});

/** Rejects like the first connection, and with the reason of `stop`; later connections are retried. */
async function follow(program: RemoteProgram, stop: AbortSignal): Promise<void> {
  const quit = new AbortController();
  const end = AbortSignal.any([stop, quit.signal]);
  const isOver = () => end.aborted;
  let models = program.models(end);
  let model: Model = (await models.next()).value;
  let view: View = START;
  const screen = new Screen(process.env['NO_COLOR'] === undefined || process.env['NO_COLOR'] === '');
  const draw = () => {
    terminal.draw(screen.draw(model, terminal.size, view));
  };
  const onTyped = (text: string) => {
    for (const key of keysOf(text)) {
      const next = press(view, key, extentOf(model, terminal.size, view));
      if (next === undefined) quit.abort();
      else view = next;
    }
    draw();
  };
  using terminal = new DrawnTerminal({ onTyped, onChanged: draw });
  draw();
  for (let delayMs = RETRY_FIRST_MS; !isOver(); models = program.models(end)) {
    try {
      for await (model of models) {
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
