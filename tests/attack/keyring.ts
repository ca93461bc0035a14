/** Keys in a folder: those of a program, of those who are served by it, and of the attacker, whose key may be taken off the list. */
import { copyFile, mkdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { generateCurveKeys, readPublicKey, readSecretCertificate, writeCertificate } from '@proj/transport/curve';
import type { ClientCurve } from '@proj/transport/curve';
import type { Flags } from './attack.js';

/** What is listed: everybody, or all but the attacker. */
type List = 'all' | 'honest';

/** How a list takes the place of another: a link is put in the place of a link, or a folder in that of a folder. */
export type Swap = 'link' | 'folder';

/** See above. All are known by the folder that they lie in, also to other processes. */
export class Keyring {
  readonly folder: string;
  #swaps = 0;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Makes all keys. */
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

  /** Of the program. */
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

  /** Puts another list where the program looks. */
  async put(list: List, how: Swap): Promise<void> {
    const next = join(this.folder, `next-${++this.#swaps}`);
    if (how === 'link') {
      await symlink(list, next);
      // What was put as a folder makes way first, since nothing but a link can replace it in one go.
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
