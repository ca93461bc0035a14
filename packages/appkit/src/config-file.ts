/** Reads a configuration file: YAML, one key per option. */
import { readFileSync } from 'node:fs';
import { ProjError } from '@proj/transport';
import { parse as parseYaml } from 'yaml';
import type { ConfigFile } from './settings.js';

/**
 * Reads a YAML configuration file. Throws `OPTIONS_INVALID` with the file name if it cannot be read, is not a mapping, or has a key that is not
 * in `allowed`.
 */
export function readConfigFile(path: string, allowed: ReadonlySet<string>): ConfigFile {
  const values = parseMapping(path, readText(path));
  for (const key of Object.keys(values)) {
    if (allowed.has(key)) continue;
    throw new ProjError('OPTIONS_INVALID', `${key} in ${path}: no such option; choose from ${[...allowed].join(', ')}`);
  }
  return { path, values };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new ProjError('OPTIONS_INVALID', `--config = "${path}": must be a readable YAML file (${reason})`);
  }
}

function parseMapping(path: string, source: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = parseYaml(source);
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n');
    throw new ProjError('OPTIONS_INVALID', `--config = "${path}": must be YAML (${reason.replace(/:$/, '')})`);
  }
  if (parsed === null) return {};
  if (typeof parsed === 'object' && !Array.isArray(parsed)) return parsed as Record<string, unknown>;
  throw new ProjError('OPTIONS_INVALID', `--config = "${path}": must be a mapping of option names to values`);
}
