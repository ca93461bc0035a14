import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  decodeCurveKey,
  encodeZ85,
  generateCurveKeys,
  readCertificate,
  readPublicKey,
  readSecretCertificate,
  writeCertificate,
} from './index.js';

/** As pyzmq writes them; the pair is the one from the manual of zmq_curve. */
const PUBLIC = 'Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID';
const SECRET = 'D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs';
const PYZMQ = `#   ****  Generated on 2026-01-02 03:04:05.678901 by pyzmq  ****
#   ZeroMQ CURVE **Secret** Certificate
#   DO NOT PROVIDE THIS FILE TO OTHER USERS nor change its permissions.

metadata
    public-key = "not this one"
curve
    public-key = "${PUBLIC}"
    secret-key = "${SECRET}"
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'certificates-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const refusal = (action: Promise<unknown>) => expect(action).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });

async function file(text: string, mode = 0o600): Promise<string> {
  const path = join(folder, 'a.key_secret');
  await writeFile(path, text);
  await chmod(path, mode);
  return path;
}

describe('certificates', () => {
  it('rule 52: reads what pyzmq and NORFAB write', async () => {
    const { publicKey, secretKey, warnings } = await readSecretCertificate(await file(PYZMQ));

    expect([encodeZ85(publicKey), encodeZ85(secretKey), warnings]).toEqual([PUBLIC, SECRET, []]);
  });

  it('rule 52: writes a public file, and a secret one that nobody else can read', async () => {
    const keys = generateCurveKeys();
    const { publicFile, secretFile } = await writeCertificate(join(folder, 'broker'), keys);

    expect((await readdir(folder)).sort()).toEqual(['broker.key', 'broker.key_secret']);
    expect((await stat(secretFile)).mode & 0o777).toBe(0o600);
    expect(await readCertificate(publicFile)).toEqual({ publicKey: keys.publicKey, warnings: [] });
    expect(await readCertificate(secretFile)).toEqual({ ...keys, warnings: [] });
    expect(await readFile(publicFile, 'utf8')).not.toContain('secret-key');
  });

  it.each([0o640, 0o604, 0o660])('rule 52: warns about a secret file of mode %o', async (mode) => {
    const { warnings } = await readCertificate(await file(PYZMQ, mode));

    expect(warnings).toEqual([expect.stringContaining('others can read')]);
  });

  it.each(['.key', '.key_secret'])('never overwrites a key, and leaves nothing half done: %s', async (ending) => {
    const path = join(folder, 'broker');
    await writeFile(path + ending, 'precious');
    await refusal(writeCertificate(path, generateCurveKeys()));

    expect(await readdir(folder)).toEqual([`broker${ending}`]);
    expect(await readFile(path + ending, 'utf8')).toBe('precious');
  });

  it('accepts quotes of either kind, and none', async () => {
    const text = PYZMQ.replace(`"${PUBLIC}"`, `'${PUBLIC}'`).replace(`"${SECRET}"`, SECRET);

    expect(await readCertificate(await file(text))).toMatchObject({ secretKey: decodeCurveKey(SECRET) });
  });

  it('knows the public key of a secret one', async () => {
    const text = PYZMQ.replace(/^ {4}public-key = "Y.*\n/m, '');

    expect(encodeZ85((await readCertificate(await file(text))).publicKey)).toBe(PUBLIC);
  });

  it.each([
    ['another public key than that of its secret key', PYZMQ.replace('"Yne', '"Zne')],
    ['a key that is too short', PYZMQ.replace('JR%cs', '')],
    ['no section curve', PYZMQ.replace('curve\n', 'other\n')],
    ['nothing', ''],
    ['more than a certificate can need', PYZMQ + '#'.repeat(70_000)],
    ['bytes that are not text', String.fromCharCode(0, 255, 10, 61)],
  ])('refuses a file with %s', async (_what, text) => {
    await refusal(readCertificate(await file(text)));
  });

  it('names no key in a message', async () => {
    const read = readCertificate(await file(PYZMQ.replace('"Yne', '"Zne')));

    await expect(read).rejects.toThrow('a.key_secret');
    await expect(read).rejects.not.toThrow(SECRET.slice(0, 8));
  });

  it('says when a file has no secret key, and when the file is missing', async () => {
    const path = await file(PYZMQ.replace(/^ {4}secret-key.*\n/m, ''));

    await expect(readSecretCertificate(path)).rejects.toThrow('no secret-key');
    await expect(readCertificate(join(folder, 'absent'))).rejects.toThrow('ENOENT');
  });

  it('rule 54: takes the key itself as a public key, as in an inventory of NORFAB, or a file', async () => {
    expect(await readPublicKey(PUBLIC)).toEqual(decodeCurveKey(PUBLIC));
    expect(await readPublicKey(await file(PYZMQ))).toEqual(decodeCurveKey(PUBLIC));
  });
});
