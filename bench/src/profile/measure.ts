/** Where client, broker and worker spend their time, as flame graphs: the chain on ZMTP under load, as users would write it. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chain } from '../chain/chain.js';
import { ourBroker } from '../chain/servers.js';
import type { Report, Skip } from '../statistics.js';
import { flameGraph } from './flames.js';
import { foldProfile, ownTimes } from './fold.js';
import type { CpuProfile } from './fold.js';
import { modulesOf, placesIn } from './places.js';

const IN_FLIGHT = 100;
const WARM_UP = 50_000;
const REQUESTS = 300_000;
const INTERVAL_MICROS = 500;
/** Minimum share of the whole that is drawn. */
const LEAST = 0.003;
/** Functions listed for each process. */
const NAMED = 8;
const TITLE = `MDP chain on zmtp, ${IN_FLIGHT} in flight`;

/** Draws one for each process. */
export async function measureProfiles(
  report: Report,
  _skip: Skip,
  draw: (file: string, svg: string) => void,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-profile-'));
  try {
    const into = (name: string) => ({
      node: ['--cpu-prof', `--cpu-prof-interval=${INTERVAL_MICROS}`, `--cpu-prof-dir=${join(folder, name)}`],
    });
    const broker = await ourBroker('mdp-broker-zmtp', into('broker'));
    const chain = await Chain.start('mdp-zmtp', broker, (role) => into(role));
    await chain.run(WARM_UP, IN_FLIGHT);
    await chain.run(REQUESTS, IN_FLIGHT);
    // They write the profile when they exit.
    await chain.stop();
    for (const name of ['client', 'broker', 'worker']) {
      const profile = await readProfile(join(folder, name));
      const placeOf = placesIn(await bundlesOf(profile));
      draw(
        `profile-${name}.svg`,
        flameGraph(`${TITLE}: CPU time of the ${name}`, foldProfile(profile, LEAST, placeOf)),
      );
      const whole = foldProfile(profile, 0, placeOf);
      for (const { name: row, place, micros } of ownTimes(whole).slice(0, NAMED)) {
        const cell = { table: `${TITLE}: own time in the ${name}`, row: `${row} ${place}`.trim(), column: 'share' };
        const measured = (100 * micros) / whole.micros;
        report({ what: `${cell.table}: ${cell.row}`, measured, unit: '%', cell });
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function readProfile(folder: string): Promise<CpuProfile> {
  const [file = 'none'] = await readdir(folder);
  return JSON.parse(await readFile(join(folder, file), 'utf8')) as CpuProfile;
}

/** The modules of our own files in a profile, by address. */
async function bundlesOf({ nodes }: CpuProfile): Promise<Map<string, string[]>> {
  const urls = new Set(nodes.map(({ callFrame }) => callFrame.url).filter((url) => url.startsWith('file:')));
  const texts = await Promise.all(Array.from(urls, (url) => readFile(new URL(url), 'utf8')));
  return new Map(Array.from(urls, (url, index) => [url, modulesOf(texts[index] ?? '')]));
}
