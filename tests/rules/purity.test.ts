import { describe, expect, it } from 'vitest';
import { impurities, impuritiesAmong, isPure } from './purity.js';
import { PUBLISHED, sourceFiles } from './workspace.js';

const ENGINE = 'packages/broker/src/mdp/engine/engine.ts';
const pure = PUBLISHED.flatMap(({ dir }) => sourceFiles(dir))
  .map(({ path }) => path)
  .filter(isPure);

/** All of them at once, which is quick; only if that finds something are they checked one by one. */
const found = impuritiesAmong(pure);

describe('purity', () => {
  it.each([
    ['a Node module', "export { readFileSync } from 'node:fs';", 'Could not resolve "node:fs"'],
    ['a package', "export { Router } from 'zeromq';", 'Could not resolve "zeromq"'],
    ['a Node global', 'export const pid = () => process.pid;', "'process' is not defined."],
    ['a timer', 'export const later = (f: () => void) => setTimeout(f, 1);', "'setTimeout' is not defined."],
    [
      'the system clock through a sibling',
      "export { systemClock } from '@proj/heartbeat';",
      "'performance' is not defined.",
    ],
    ['the wall clock', 'export const now = () => Date.now();', "Unexpected use of 'Date'."],
    ['randomness', 'export const roll = () => Math.random();', "'Math.random' is restricted from being used."],
  ])('%s is an impurity', async (_what, contents, message) => {
    expect(await impurities(ENGINE, contents)).toContain(message);
  });

  it('pure files of siblings are allowed', async () => {
    const contents =
      "import { latin1 } from '@proj/frames'; import { Backoff } from '@proj/heartbeat'; export { latin1, Backoff };";
    expect(await impurities(ENGINE, contents)).toEqual([]);
  });

  it('UTF-8 is welcome', async () => {
    const contents = 'export const bytes = new TextEncoder().encode("é"), text = new TextDecoder().decode(bytes);';
    expect(await impurities(ENGINE, contents)).toEqual([]);
  });

  it('codecs, engine/ and shared/ must be pure', () => {
    const names = [
      'packages/frames/src/mdp/decode.ts',
      ENGINE,
      'packages/client/src/mdp/engine/session.ts',
      'packages/zmtp/src/engine/framing/reader.ts',
      'packages/broker/src/shared/lru.ts',
    ];
    expect(names.filter(isPure)).toEqual(names);
    expect(['packages/broker/src/mdp/broker.ts', 'packages/heartbeat/src/clock.ts'].filter(isPure)).toEqual([]);
  });

  it('is found in many files, with the same result for all at once and for each alone', async () => {
    expect(pure.length).toBeGreaterThan(200);
    expect(await impuritiesAmong([ENGINE, 'packages/heartbeat/src/clock.ts'])).toContain(
      "'performance' is not defined.",
    );
  });

  it.each(pure)('%s is pure', async (path) => {
    expect((await found).length === 0 ? [] : await impurities(path)).toEqual([]);
  });
});
