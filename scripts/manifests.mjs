// Writes into the manifest of every package that is published what they all say alike: where its source is, where to read on, where to report.
// The root manifest says it once; `tests/rules/packages.long.test.ts` compares.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { repository } = JSON.parse(readFileSync('package.json', 'utf8'));
const page = repository.url.replace(/^git\+|\.git$/g, '');

for (const folder of ['packages', 'apps'])
  for (const name of readdirSync(folder)) {
    const directory = `${folder}/${name}`;
    const path = join(directory, 'package.json');
    if (!existsSync(path)) continue;
    const {
      name: title,
      version,
      private: isPrivate,
      description,
      license,
      keywords = [],
      ...rest
    } = JSON.parse(readFileSync(path, 'utf8'));
    if (isPrivate === true) continue;
    const shared = {
      repository: { ...repository, directory },
      homepage: `${page}/tree/main/${directory}#readme`,
      bugs: `${page}/issues`,
    };
    const head = { name: title, version, description, keywords, license };
    writeFileSync(path, `${JSON.stringify({ ...head, ...rest, ...head, ...shared }, undefined, 2)}\n`);
  }
