// What a library exports.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Of the library in a folder: how each entry is imported, its path in `dist` without ending, and its source. */
export function entriesOf(folder) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return Object.entries(manifest.exports)
    .filter(([, target]) => typeof target !== 'string')
    .map(([path, target]) => ({
      specifier: manifest.name + path.slice('.'.length),
      name: target.import.default.slice('./dist/'.length, -'.js'.length),
      source: target['@proj/source'],
    }));
}
