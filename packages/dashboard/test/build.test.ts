import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { expect, it } from 'vitest';

it.each(['./nowhere.js', 'nowhere', 'node:fs', 'events'])(
  'fails if it cannot find the import %s',
  async (specifier) => {
    const root = await mkdtemp(join(tmpdir(), 'proj-page-'));
    await writeFile(join(root, 'index.html'), '<script type="module" src="./main.js"></script>');
    await writeFile(join(root, 'main.js'), `import ${JSON.stringify(specifier)};`);
    const configFile = fileURLToPath(new URL('../vite.config.ts', import.meta.url));
    const building = build({ root, configFile, logLevel: 'silent', build: { write: false } });
    await expect(building).rejects.toThrow(specifier);
    await rm(root, { recursive: true });
  },
);
