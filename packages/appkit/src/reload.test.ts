import { describe, expect, it } from 'vitest';
import type { Logger } from './logging.js';
import { Reload } from './reload.js';

interface Settings extends Record<string, unknown> {
  readonly logLevel?: string;
  readonly a: number;
  readonly b: number;
}

/** What happened, in order. `next` is what is read; the applying functions do what `apply` says. */
function reload(next: () => Settings, apply: () => Promise<readonly string[]> = () => Promise.resolve([])) {
  const story: unknown[] = [];
  const note = (fields: object, message: string) => void story.push([message, fields]);
  const parts = {
    log: { info: note, error: note } as unknown as Logger,
    setLevel: (level: string | undefined) => void story.push(`level ${level}`),
    read: next,
    apply,
    settings: { logLevel: 'info', a: 1, b: 1 } as Settings,
    flagOf: (key: string) => `--${key}`,
  };
  return { story, run: new Reload(parts) };
}

describe('settings that are reloaded', () => {
  it('log what takes effect, and what still needs a restart', async () => {
    const { story, run } = reload(
      () => ({ logLevel: 'debug', a: 2, b: 2 }),
      () => Promise.resolve(['a']),
    );
    await run.run();
    await run.run();
    expect(story).toEqual([
      'level debug',
      ['reloaded', { changed: ['--logLevel', '--a'], needsRestart: ['--b'] }],
      'level debug',
      ['reloaded', { changed: [], needsRestart: ['--b'] }],
    ]);
  });

  it('change nothing, not even the log level, if one of them is refused', async () => {
    const refusing = () => Promise.reject(new Error('access rules "x": must be JSON'));
    const { story, run } = reload(() => ({ logLevel: 'debug', a: 2, b: 1 }), refusing);
    await run.run();
    expect(story).toEqual([['settings were not changed', { reason: 'access rules "x": must be JSON' }]]);
  });

  it('change nothing if they are not valid', async () => {
    const { story, run } = reload(() => {
      throw new Error('no such level');
    });
    await run.run();
    expect(story).toEqual([['settings were not changed', { reason: 'no such level' }]]);
  });
});
