// Finds PostgreSQL's programs: Debian keeps each version in its own folder, outside the path.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const DEBIAN = '/usr/lib/postgresql';

/** The folder with `initdb` and `postgres` of the newest version; `undefined` if there is none. */
export function postgresFolder() {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const named = process.env.PROJ_POSTGRES;
  const folders = named === undefined ? versions.map((version) => join(DEBIAN, version, 'bin')) : [named];
  return folders.find((folder) => ['initdb', 'postgres', 'createdb'].every((name) => existsSync(join(folder, name))));
}
