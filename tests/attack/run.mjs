// `npm run attack`: bundles the command line of this folder and runs it.
import { pathToFileURL } from 'node:url';
import { bundle } from './bundle.mjs';

const { folder, remove } = await bundle(['main', 'attacker', 'honest', 'ruler']);
try {
  const { main } = await import(pathToFileURL(`${folder}/main.mjs`).href);
  process.exitCode = await main(process.argv.slice(2), folder);
} finally {
  await remove();
}
