/** Every trick to read outside the folder, one row each; and those that need another process at the right moment. */
import { execFileSync } from 'node:child_process';
import {
  mkdir,
  mkdtemp,
  open,
  opendir,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Confinement } from './confinement.js';
import type { System } from './confinement.js';
import { Files } from './files.js';

let root: string;
let base: string;

/** `root/base` is served; `root/secret` and `root/base-too` are not. */
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'confinement-')));
  base = join(root, 'base');
  await mkdir(join(base, 'sub'), { recursive: true });
  await mkdir(join(root, 'base-too'));
  await mkdir(join(root, 'outer'));
  await writeFile(join(root, 'secret'), 'SECRET');
  await writeFile(join(root, 'outer/file'), 'SECRET');
  await writeFile(join(root, 'base-too/file'), 'SECRET');
  await writeFile(join(base, 'sub/file'), 'open');
  await symlink('../../secret', join(base, 'sub/relative'));
  await symlink(join(root, 'secret'), join(base, 'sub/absolute'));
  await symlink('..', join(base, 'up'));
  await symlink('sub', join(base, 'in'));
  await symlink('up', join(base, 'chain'));
  await symlink('sub/file', join(base, 'good'));
  await symlink('loop', join(base, 'loop'));
  execFileSync('mkfifo', [join(base, 'fifo')]);
});

afterEach(() => rm(root, { recursive: true }));

const OUTSIDE = { found: false, escape: true };
const MISSING = { found: false, escape: false };

const ESCAPES: [trick: string, url: () => string][] = [
  ['..', () => 'nf://../secret'],
  ['.. further down', () => 'nf://sub/../../secret'],
  ['.. that leads nowhere', () => 'nf://sub/../sub/file'],
  ['.. at the end', () => 'nf://sub/..'],
  ['encoded dots', () => 'nf://%2e%2e/secret'],
  ['encoded slash', () => 'nf://..%2fsecret'],
  ['encoded in upper case', () => 'nf://%2E%2E%2Fsecret'],
  ['one encoded dot', () => 'nf://.%2e/secret'],
  ['an absolute path', () => `nf://${root}/secret`],
  ['an absolute path into the folder', () => `nf://${base}/sub/file`],
  ['an encoded absolute path', () => `nf://${encodeURIComponent(join(root, 'secret'))}`],
  ['three slashes', () => 'nf:///etc/passwd'],
  ['a drive letter', () => 'nf://C:/windows/win.ini'],
  ['a drive letter without slash', () => 'nf://c:secret'],
  ['an encoded drive letter', () => 'nf://c%3a/secret'],
  ['backslashes', () => 'nf://..\\secret'],
  ['encoded backslashes', () => 'nf://..%5csecret'],
  ['a backslash alone', () => 'nf://sub\\file'],
  ['NUL', () => 'nf://sub/file\0.txt'],
  ['encoded NUL', () => 'nf://sub/file%00'],
  ['a link out, relative', () => 'nf://sub/relative'],
  ['a link out, absolute', () => 'nf://sub/absolute'],
  ['a file behind a linked directory', () => 'nf://up/secret'],
  ['a file behind two links', () => 'nf://chain/outer/file'],
  ['a neighbour whose name begins alike', () => 'nf://up/base-too/file'],
];

const NOTHING: [trick: string, url: () => string][] = [
  ['dots encoded twice', () => 'nf://%252e%252e/secret'],
  ['three dots', () => 'nf://.../secret'],
  ['dots of another script', () => 'nf://\uff0e\uff0e/secret'],
  ['overlong UTF-8', () => 'nf://%c0%ae%c0%ae/secret'],
  ['a lone surrogate', () => 'nf://\ud800'],
  ['a broken escape', () => 'nf://%zz'],
  ['another scheme', () => `file://${root}/secret`],
  ['another case of the scheme', () => 'NF://sub/file'],
  ['no scheme', () => '../secret'],
  ['a circle of links', () => 'nf://loop'],
  ['a FIFO', () => 'nf://fifo'],
  ['a directory', () => 'nf://sub'],
  ['a file as a directory', () => 'nf://sub/file/'],
  ['a name too long for a disk', () => `nf://${'a'.repeat(300)}`],
  ['a URL that is too long', () => `nf://${'a/'.repeat(3000)}`],
  ['the home directory', () => 'nf://~/.ssh/id_rsa'],
];

describe('files outside look missing, and are counted', () => {
  it.each(ESCAPES)('%s', async (_, url) => {
    const files = new Files({ folder: base });
    expect(await files.read(url(), 0, 100)).toEqual(OUTSIDE);
    expect(await files.details(url())).toEqual(OUTSIDE);
    expect(await files.list(url())).toEqual(OUTSIDE);
    expect(await files.walk(url())).toEqual(OUTSIDE);
    expect(files.stats.escapes).toBe(4);
  });

  it.each(NOTHING)('%s is nothing', async (_, url) => {
    const files = new Files({ folder: base });
    expect(await files.read(url(), 0, 100)).toEqual(MISSING);
    expect(await files.details(url())).toEqual(MISSING);
    expect(files.stats.escapes).toBe(0);
  });

  it.each(['nf://sub/file', 'nf://in/file', 'nf://good', 'nf://./sub//file'])('%s is inside', async (url) => {
    const answer = await new Files({ folder: base }).read(url, 0, 100);
    expect(answer.found && Buffer.from(answer.value.bytes).toString()).toBe('open');
  });

  it('a folder that is itself behind a link is served', async () => {
    await symlink('base', join(root, 'current'));
    const files = new Files({ folder: join(root, 'current') });
    expect(await files.read('nf://sub/file', 0, 100)).toMatchObject({ found: true });
    expect(await files.read('nf://up/secret', 0, 100)).toEqual(OUTSIDE);
  });
});

/** The file system, with something that happens right before a call. */
function systemThat(before: Partial<Record<keyof System, () => Promise<unknown>>>): System {
  const after = async <T>(call: keyof System, act: () => Promise<T>) => {
    await before[call]?.();
    return act();
  };
  return {
    realpath: (path) => after('realpath', () => realpath(path)),
    stat: (path) => after('stat', () => stat(path, { bigint: true })),
    open: (path) => after('open', () => open(path, 'r')),
    opendir: (path) => after('opendir', () => opendir(path)),
    pathOf: (handle) => readlink(`/proc/self/fd/${handle.fd}`),
  };
}

async function relink(target: string, path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await symlink(target, path);
}

describe('between the check and the opening', () => {
  it('a file exchanged for a link out is recognized by its descriptor', async () => {
    const inside = new Confinement(
      base,
      systemThat({ open: () => relink(join(root, 'secret'), join(base, 'sub/file')) }),
    );
    expect(await inside.open('sub/file')).toEqual({ kind: 'outside' });
  });

  it('a directory exchanged for a link out, and back before the second check, is recognized by identity', async () => {
    const [path, away] = [join(base, 'sub'), join(base, 'away')];
    let opened = false;
    const inside = new Confinement(
      base,
      systemThat({
        open: async () => {
          await rename(path, away);
          await symlink(join(root, 'outer'), path);
          opened = true;
        },
        realpath: async () => {
          if (!opened) return;
          opened = false;
          await rm(path);
          await rename(away, path);
        },
      }),
    );
    expect(await inside.open('sub/file')).toEqual({ kind: 'outside' });
  });

  it.runIf(process.platform === 'linux')(
    'a directory that leads out when it is used, and in when it is checked, is recognized by the path of the handle',
    async () => {
      const [path, away] = [join(base, 'sub'), join(base, 'away')];
      let isOut = false;
      const lead = (out: boolean) => async () => {
        if (isOut === out) return;
        isOut = out;
        if (out) await rename(path, away);
        else await rm(path);
        await (out ? symlink(join(root, 'outer'), path) : rename(away, path));
      };
      const system = systemThat({
        realpath: lead(false),
        stat: lead(true),
        open: lead(true),
        opendir: lead(true),
      });
      const inside = new Confinement(base, system);
      expect(await inside.open('sub/file')).toEqual({ kind: 'outside' });
      expect(await inside.list('sub', 100)).toEqual({ kind: 'outside' });
    },
  );

  it('a file replaced by another one inside is opened again', async () => {
    let replaced = false;
    const inside = new Confinement(
      base,
      systemThat({
        open: async () => {
          if (replaced) return;
          replaced = true;
          await writeFile(join(base, 'new'), 'new');
        },
        // After the opening, before the second check.
        realpath: async () => {
          if (replaced) await rename(join(base, 'new'), join(base, 'sub/file')).catch(() => undefined);
        },
      }),
    );
    const file = await inside.open('sub/file');
    if (file.kind !== 'file') throw new Error(file.kind);
    expect(await file.handle.readFile('utf8')).toBe('new');
    await file.handle.close();
  });

  it('a directory exchanged while it is read is not listed', async () => {
    const inside = new Confinement(base, systemThat({ opendir: () => relink(join(root, 'outer'), join(base, 'sub')) }));
    expect(await inside.list('sub', 100)).toEqual({ kind: 'outside' });
  });

  it('a real link is not followed even when it appears at the last moment', async () => {
    const real = new Confinement(base);
    const flips = (async () => {
      for (let turn = 0; turn < 300; turn++) {
        await relink(join(root, 'secret'), join(base, 'flip'));
        await rm(join(base, 'flip'));
        await writeFile(join(base, 'flip'), 'open');
      }
    })();
    const over = new AbortController();
    void flips.finally(() => {
      over.abort();
    });
    const seen = new Set<string>();
    while (!over.signal.aborted) {
      const file = await real.open('flip');
      if (file.kind !== 'file') continue;
      seen.add(await file.handle.readFile('utf8'));
      await file.handle.close();
    }
    await flips;
    expect([...seen].filter((content) => content !== 'open' && content !== '')).toEqual([]);
  });
});

it('a failing disk does not look like a missing file', async () => {
  const broken = () => Promise.reject(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }));
  const files = new Files({ folder: base }, new Confinement(base, systemThat({ open: broken })));
  await expect(files.read('nf://sub/file', 0, 1)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});
