/** Keys in a folder: those of a program, of the honest clients, and of the attacker, whose key may be removed from the list. */
import { copyFile, mkdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { generateCurveKeys, readPublicKey, readSecretCertificate, writeCertificate } from '@proj/transport/curve';
import type { ClientCurve } from '@proj/transport/curve';
import type { Flags } from './attack.js';

/** Which keys are listed: all, or all except the attacker's. */
type List = 'all' | 'honest';

/** How one list replaces another: by a link in place of a link, or by a folder in place of a folder. */
export type Swap = 'link' | 'folder';

/** See above. The folder gives all keys, also to other processes. */
export class Keyring {
  readonly folder: string;
  #swaps = 0;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Creates all keys. */
  static async make(folder: string): Promise<Keyring> {
    const ring = new Keyring(folder);
    await mkdir(folder);
    for (const name of ['program', 'honest', 'attacker'])
      await writeCertificate(join(folder, name), generateCurveKeys());
    for (const [list, names] of Object.entries({ all: ['honest', 'attacker'], honest: ['honest'] })) {
      await mkdir(join(folder, list));
      for (const name of names) await copyFile(join(folder, `${name}.key`), join(folder, list, `${name}.key`));
    }
    await symlink('all', ring.#list);
    return ring;
  }

  /** The program's keys. */
  get flags(): Flags {
    return { 'curve-secret-key': join(this.folder, 'program.key_secret'), 'authorized-keys': this.#list };
  }

  /** What a client needs. */
  async curve(who: 'honest' | 'attacker'): Promise<ClientCurve> {
    return {
      keys: await readSecretCertificate(join(this.folder, `${who}.key_secret`)),
      serverKey: await readPublicKey(join(this.folder, 'program.key')),
    };
  }

  /** Installs another list where the program looks for it. */
  async put(list: List, how: Swap): Promise<void> {
    const next = join(this.folder, `next-${++this.#swaps}`);
    if (how === 'link') {
      await symlink(list, next);
      // A folder must be moved away first, since only a link can be replaced in one step.
      await rename(next, this.#list).catch(async () => {
        await this.#moveAway();
        await rename(next, this.#list);
      });
      return;
    }
    await mkdir(next);
    for (const name of list === 'all' ? ['honest', 'attacker'] : ['honest'])
      await copyFile(join(this.folder, `${name}.key`), join(next, `${name}.key`));
    await this.#moveAway();
    await rename(next, this.#list);
  }

  get #list(): string {
    return join(this.folder, 'authorized');
  }

  async #moveAway(): Promise<void> {
    const old = join(this.folder, `old-${this.#swaps}`);
    await rename(this.#list, old);
    await rm(old, { recursive: true });
  }
}
