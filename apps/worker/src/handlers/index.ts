/** Which handlers there are, and how to find one by its name. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { digestService, textStatsService } from '@proj/appkit';
import { ProjError } from '@proj/worker';
import { sha256 } from './digest.js';
import { onFrames, onValues } from './implementation.js';
import type { FrameImplementation, Implementation } from './implementation.js';
import { sleep } from './sleep.js';
import { measureText } from './text-stats.js';

const { pid } = process;

const builtIn: Readonly<Record<string, Implementation>> = {
  echo: onFrames((body) => body),
  sha256: onValues(digestService, (bytes) => ({ digest: sha256(bytes), pid })),
  'text-stats': onValues(textStatsService, (bytes) => ({ ...measureText(bytes), pid })),
  sleep: onFrames((body, { signal }) => sleep(String(body[0]), signal)),
  fail: onFrames(() => {
    throw new Error('handler fail: it always does');
  }),
};

/** Names of the built-in handlers. */
export const BUILT_IN: readonly string[] = Object.keys(builtIn);

/**
 * The implementation of `service`: the built-in handler or the file that `handler` names, or the built-in handler with the
 * service's name. Rejects with `OPTIONS_INVALID` if there is none.
 */
export async function findHandler(service: string, handler: string | undefined): Promise<Implementation> {
  const found = builtIn[handler ?? service];
  if (found !== undefined) return found;
  const allowed = `must be one of ${BUILT_IN.join(', ')}, or a file`;
  if (handler === undefined)
    throw new ProjError('OPTIONS_INVALID', `--handler missing: no built-in one is called "${service}", it ${allowed}`);
  const path = resolve(handler);
  if (!existsSync(path)) throw new ProjError('OPTIONS_INVALID', `--handler = "${handler}": ${allowed} that exists`);
  return await importHandler(handler, path);
}

async function importHandler(handler: string, path: string): Promise<FrameImplementation> {
  let exports: { readonly default?: unknown };
  try {
    exports = (await import(pathToFileURL(path).href)) as typeof exports;
  } catch (cause) {
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    throw new ProjError('OPTIONS_INVALID', `--handler = "${handler}": must be a module that loads (${reason})`, {
      cause,
    });
  }
  const handle = exports.default;
  if (typeof handle === 'function') return { kind: 'frames', handle: handle as FrameImplementation['handle'] };
  const got = handle === undefined ? 'it has none' : `it is of type ${typeof handle}`;
  throw new ProjError('OPTIONS_INVALID', `--handler = "${handler}": its default export must be a function, ${got}`);
}
