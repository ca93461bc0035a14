/** NORFAB's `inventory.yaml` with all files it names, in the broker's form. docs/protocols/nfp.md, rule 20. */
import { statSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { NfpInventory, NfpInventoryEntry } from '@proj/broker';
import { ProjError } from '@proj/transport';
import { readDocument } from './document.js';
import type { InventoryDocument } from './document.js';
import { renderTemplate } from './template.js';

/** Bounds: bytes of one file, files of one inventory. */
const FILE_MAX_BYTES = 1_048_576;
const FILES_MAX = 10_000;

/** Sections that we read; NORFAB has others, which we ignore. */
const SECTIONS = new Set(['broker', 'workers', 'topology']);

/** Keys of section `broker` that may be shown; never `shared_key`. */
const SHOWN = ['endpoint', 'zmq_auth'];

/** An inventory and what was found while loading it. */
export interface LoadedInventory {
  readonly inventory: NfpInventory;
  /** Where the inventory says that the broker should be. */
  readonly endpoint: string | undefined;
  /** Warnings for people. */
  readonly warnings: readonly string[];
}

/** Files that were checked, with a value that identifies their content; `none` for files that could not be read. */
export type Seen = Map<string, string>;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Loads an inventory. Paths in it are relative to its folder. Rejects with `CORRUPT` naming file, line and key; `seen` is complete up to that
 * point, so that a follower knows which files to check. `templates`: files are first rendered as Jinja2, as NORFAB does.
 */
export async function loadInventory(path: string, env: Env, seen: Seen, templates = true): Promise<LoadedInventory> {
  const read = (file: string, text: string): InventoryDocument => {
    if (!templates) return readDocument(file, text, env, true);
    const onInclude = (included: string) => seen.set(included, signatureNow(included));
    return readDocument(file, renderTemplate(file, text, { root: dirname(path), env, onInclude }), env, false);
  };
  const main = read(path, await readText(path, seen));
  const warnings = [...main.warnings];
  const sections = mappingOf(main, main.value, []);
  const ignored = Object.keys(sections).filter((name) => !SECTIONS.has(name));
  if (ignored.length > 0) warnings.push(`${path}: ignored: ${ignored.join(', ')}`);
  const broker = mappingOf(main, sections['broker'], ['broker']);
  const { endpoint } = broker;
  if (endpoint !== undefined && typeof endpoint !== 'string')
    throw main.refuse(['broker', 'endpoint'], 'must be text such as tcp://127.0.0.1:5555');
  const files = new Map<string, InventoryDocument>();
  const workers: NfpInventoryEntry[] = [];
  for (const [glob, entries] of Object.entries(mappingOf(main, sections['workers'], ['workers']))) {
    if (!Array.isArray(entries)) throw main.refuse(['workers', glob], 'must be a list of files and mappings');
    for (const [index, entry] of (entries as unknown[]).entries()) {
      const keys = ['workers', glob, index];
      if (typeof entry !== 'string') {
        workers.push({ glob, source: '(inline)', data: mappingOf(main, entry, keys) });
        continue;
      }
      const file = resolve(dirname(path), entry);
      let document = files.get(file);
      if (document === undefined) {
        if (files.size >= FILES_MAX)
          throw main.refuse(keys, `is file ${FILES_MAX + 1} of the inventory: use fewer files`);
        const text = await readText(file, seen).catch((error: unknown) => {
          throw main.refuse(keys, error instanceof Error ? error.message : String(error));
        });
        document = read(file, text);
        files.set(file, document);
        warnings.push(...document.warnings);
      }
      workers.push({ glob, source: entry, data: mappingOf(document, document.value, []) });
    }
  }
  const shown = Object.fromEntries(SHOWN.filter((key) => key in broker).map((key) => [key, broker[key]]));
  return { inventory: { broker: shown, topology: sections['topology'] ?? null, workers }, endpoint, warnings };
}

/** Identifies the content of a file without reading it. */
export async function signatureOf(path: string): Promise<string> {
  return stat(path, { bigint: true }).then(signature, () => 'none');
}

function signatureNow(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? 'none' : signature(stats);
}

function signature({ ino, size, mtimeNs }: BigIntStats): string {
  return [ino, size, mtimeNs].join(' ');
}

async function readText(path: string, seen: Seen): Promise<string> {
  seen.set(path, 'none');
  const failed = (why: string) =>
    new ProjError('CORRUPT', `${path}: must be a readable file of at most 1 MiB (${why})`);
  const unreadable = (error: unknown) => {
    throw failed((error as NodeJS.ErrnoException).code ?? String(error));
  };
  const stats = await stat(path, { bigint: true }).catch(unreadable);
  // Taken before the file is read: a change in between causes another read.
  seen.set(path, signature(stats));
  if (!stats.isFile()) throw failed('it is not a file');
  if (stats.size > FILE_MAX_BYTES) throw failed(`it has ${stats.size} bytes`);
  return readFile(path, 'utf8').catch(unreadable);
}

/** A missing section counts as empty. */
function mappingOf(
  document: InventoryDocument,
  value: unknown,
  keys: readonly (string | number)[],
): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  throw document.refuse(keys, 'must be a mapping');
}
