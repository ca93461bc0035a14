/** The cost of ciphers without an add-on in CURVE boxes: @noble/ciphers in JavaScript and libsodium in WebAssembly. */
import { randomBytes } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import create from 'libsodium-sumo';
import { median } from './statistics.js';
import type { Report } from './statistics.js';

const ROUNDS = 15;
const ROUND_MS = 20;
const KEY = randomBytes(32);
const NONCE = randomBytes(24);
const FREE_BYTES = 32;
const TAG_BYTES = 16;
const SIZES = { '20 bytes': 20, '200 bytes': 200, '4 KiB': 2 ** 12, '64 KiB': 2 ** 16 - TAG_BYTES };
const JS = '@noble/ciphers';
const WASM = 'libsodium';

/** Seals 32 free bytes followed by the text, in place. */
type Seal = (space: Uint8Array) => void;

/** Both as `@proj/zmtp` calls them, including the copies into and out of WebAssembly memory. */
export async function measureZmtpBoxes(report: Report): Promise<void> {
  const startedAt = performance.now();
  const ciphers: Readonly<Record<string, Seal>> = { [JS]: inJavaScript, [WASM]: await inWebAssembly() };
  report({ what: 'libsodium: until it is compiled', measured: performance.now() - startedAt, unit: 'ms' });
  const table = 'Boxes of CURVE, sealed';
  for (const [column, bytes] of Object.entries(SIZES)) {
    const micros = measure(ciphers, bytes);
    for (const row of [JS, WASM]) {
      const measured = median(micros[row] ?? []);
      report({ what: `${table}: ${row}: ${column}`, measured, unit: 'us', cell: { table, row, column } });
    }
    const ratios = (micros[WASM] ?? []).map((each, round) => each / (micros[JS]?.[round] ?? Number.NaN));
    const limit = { atMost: 1 };
    report({ what: `${WASM} over ${JS}, boxes of ${column}: time`, measured: median(ratios), unit: 'x', limit });
  }
}

/** Microseconds for each box, round by round, in turn. */
function measure(ciphers: Readonly<Record<string, Seal>>, bytes: number): Record<string, number[]> {
  const space = new Uint8Array(FREE_BYTES + bytes);
  const micros: Record<string, number[]> = {};
  for (let round = -2; round < ROUNDS; round++) {
    for (const [name, seal] of Object.entries(ciphers)) {
      const startedAt = performance.now();
      let count = 0;
      for (; performance.now() - startedAt < ROUND_MS; count += 8) for (let box = 0; box < 8; box++) seal(space);
      if (round >= 0) (micros[name] ??= []).push((1000 * (performance.now() - startedAt)) / count);
    }
  }
  return micros;
}

function inJavaScript(space: Uint8Array): void {
  xsalsa20poly1305(KEY, NONCE).encrypt(space.subarray(FREE_BYTES), space);
}

async function inWebAssembly(): Promise<Seal> {
  const sodium = await create();
  const [window, key, nonce] = [2 ** 16, KEY.length, NONCE.length].map((bytes) => sodium._malloc(bytes)) as [
    number,
    number,
    number,
  ];
  return (space) => {
    const memory = sodium.HEAPU8;
    memory.set(KEY, key);
    memory.set(NONCE, nonce);
    memory.set(space.subarray(FREE_BYTES), window + TAG_BYTES);
    sodium._crypto_secretbox_easy(window, window + TAG_BYTES, space.length - FREE_BYTES, 0, nonce, key);
    space.set(memory.subarray(window, window + space.length - TAG_BYTES), TAG_BYTES);
  };
}
