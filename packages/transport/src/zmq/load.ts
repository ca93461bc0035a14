/** The only place that imports `zeromq`, so that a platform without its addon can use everything else. */
import type * as zeromq from 'zeromq';
import { ProjError } from '../errors.js';

/** The module `zeromq`. */
export type ZeroMq = typeof zeromq;

const importZeroMq = (): Promise<ZeroMq> => import('zeromq');

/** Runtimes on which the add-on loads but does not work: docs/RUNTIMES.md. */
const UNFIT = [
  ['bun', 'Bun', 'ends the whole process'],
  ['deno', 'Deno', 'hears nothing'],
] as const;

/** Loads the addon. Rejects with `UNAVAILABLE` and one sentence: how to install it, or runtime, platform, ABI, libc and remedy. */
export async function loadZeroMq(
  importer: () => Promise<ZeroMq> = importZeroMq,
  versions: Readonly<Record<string, string | undefined>> = process.versions,
): Promise<ZeroMq> {
  for (const [key, name, fate] of UNFIT)
    if (versions[key] !== undefined)
      throw new ProjError(
        'UNAVAILABLE',
        `the add-on of zeromq ${fate} on ${name} ${versions[key]}: omit the option transport to use ZMTP in TypeScript, or use Node.js`,
      );
  try {
    return await importer();
  } catch (cause) {
    throw new ProjError('UNAVAILABLE', explain(cause), { cause });
  }
}

function explain(cause: unknown): string {
  if (isMissing(cause))
    return 'the package zeromq is not installed: npm i zeromq, or omit the option transport to use ZMTP in TypeScript, which needs no add-on';
  const reason = (cause instanceof Error ? cause.message : String(cause)).split('\n', 1)[0] ?? '';
  const machine = `${process.platform} ${process.arch}, Node.js ${process.version} with ABI ${process.versions.modules}, ${libc()}`;
  return (
    `zeromq cannot be loaded on ${machine}: ${reason}; ` +
    'install zeromq again on this machine (npm rebuild zeromq compiles it where no prebuilt binary fits; ' +
    'they exist for Linux with glibc or musl, macOS and Windows on x64 and arm64)'
  );
}

/** The package itself, not one of its dependencies. */
function isMissing(cause: unknown): boolean {
  const { code, message = '' } = cause as { readonly code?: string; readonly message?: string };
  return (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') && /['"]zeromq['"]/.test(message);
}

function libc(): string {
  if (process.platform !== 'linux') return 'libc of the system';
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  const version = report.header?.glibcVersionRuntime;
  return version === undefined ? 'musl' : `glibc ${version}`;
}
