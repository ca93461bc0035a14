// Writes packages/zmtp/src/boxes/sodium-module.ts: of the WebAssembly of libsodium, as its authors compiled it, the functions that boxes need.
// The bodies of these are the authors' bytes; those of all others are emptied, and data that nothing left refers to is left out. See docs/adr/0031-nothing-but-zod.md.
// Run it from the root: node scripts/sodium.mjs [--check]
/* global WebAssembly */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

const TARGET = 'packages/zmtp/src/boxes/sodium-module.ts';
const NEEDED = [
  'malloc',
  'crypto_secretbox_easy',
  'crypto_secretbox_open_easy',
  'crypto_stream_xsalsa20_xor_ic',
  'crypto_onetimeauth_statebytes',
  'crypto_onetimeauth_init',
  'crypto_onetimeauth_update',
  'crypto_onetimeauth_final',
];
const SECTION = { import: 2, function: 3, export: 7, element: 9, code: 10, data: 11, dataCount: 12 };
/** The body of a function that is never called: no locals, `unreachable`, `end`. */
const EMPTY = Uint8Array.of(0, 0x00, 0x0b);
/** Compilers address data from a little before or behind it. */
const SLACK_BYTES = 1024;

/** Reads the numbers of the binary format. */
class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }
  byte() {
    return this.bytes[this.at++];
  }
  take(count) {
    return this.bytes.subarray(this.at, (this.at += count));
  }
  unsigned() {
    let [value, scale] = [0, 1];
    let byte;
    do {
      byte = this.byte();
      value += (byte & 0x7f) * scale;
      scale *= 0x80;
    } while (byte & 0x80);
    return value;
  }
  /** Of 32 bits; of more only the length counts. */
  signed() {
    let [value, shift] = [0, 0];
    let byte;
    do {
      byte = this.byte();
      if (shift < 32) value |= (byte & 0x7f) << shift;
      shift += 7;
    } while (byte & 0x80);
    return shift < 32 && byte & 0x40 ? value | (~0 << shift) : value;
  }
  list(read) {
    return Array.from({ length: this.unsigned() }, read);
  }
  name() {
    return Buffer.from(this.take(this.unsigned())).toString();
  }
}

const number = (value) => {
  const bytes = [];
  do {
    bytes.push((value % 0x80) | (value >= 0x80 ? 0x80 : 0));
    value = Math.floor(value / 0x80);
  } while (value > 0);
  return Uint8Array.from(bytes);
};
const sized = (bytes) => Buffer.concat([number(bytes.length), bytes]);
const list = (items) => Buffer.concat([number(items.length), ...items]);

/** Calls `on` for what the instructions of a body name: functions, types of functions in tables, constants. Throws for instructions that it does not know. */
function walk(body, on) {
  const code = new Reader(body);
  code.list(() => [code.unsigned(), code.byte()]);
  const memory = () => {
    code.unsigned();
    on.constant(code.unsigned());
  };
  while (code.at < body.length) {
    const op = code.byte();
    if (op >= 0x02 && op <= 0x04) code.signed();
    else if (op === 0x0c || op === 0x0d || (op >= 0x20 && op <= 0x24)) code.unsigned();
    else if (op === 0x0e) [code.list(() => code.unsigned()), code.unsigned()];
    else if (op === 0x10) on.call(code.unsigned());
    else if (op === 0x11) [on.callOfType(code.unsigned()), code.unsigned()];
    else if (op >= 0x28 && op <= 0x3e) memory();
    else if (op === 0x3f || op === 0x40) code.byte();
    else if (op === 0x41) on.constant(code.signed() >>> 0);
    else if (op === 0x42) code.signed();
    else if (op === 0x43) code.take(4);
    else if (op === 0x44) code.take(8);
    else if (op === 0xfc) {
      const sub = code.unsigned();
      if (sub === 10) code.take(2);
      else if (sub === 11) code.take(1);
      else if (sub > 7) throw new Error(`instruction fc ${sub}`);
    } else if (!([0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b].includes(op) || (op >= 0x45 && op <= 0xc4)))
      throw new Error(`instruction ${op.toString(16)}`);
  }
}

/** The sections of a module, by their number. */
function sectionsOf(bytes) {
  const reader = new Reader(bytes, 8);
  const sections = new Map();
  while (reader.at < bytes.length) {
    const id = reader.byte();
    sections.set(id, reader.take(reader.unsigned()));
  }
  return sections;
}

/** The module with what `names` names, without these functions of its table. */
function prune(bytes, names, unused = new Set()) {
  const sections = sectionsOf(bytes);
  const read = (id) => new Reader(sections.get(id));
  const imports = read(SECTION.import);
  const imported = imports.list(() => [imports.name(), imports.name(), imports.byte(), imports.unsigned()]).length;
  const code = read(SECTION.code);
  const bodies = code.list(() => code.take(code.unsigned()));
  const exports = read(SECTION.export);
  const exported = exports
    .list(() => ({ name: exports.name(), kind: exports.byte(), index: exports.unsigned() }))
    .filter(({ name }) => names.has(name));

  const elements = read(SECTION.element);
  const inTable = elements
    .list(() => {
      if (elements.unsigned() !== 0) throw new Error('a table of another kind');
      elements.byte();
      elements.signed();
      elements.byte();
      return elements.list(() => elements.unsigned());
    })
    .flat();

  const functions = read(SECTION.function);
  const types = functions.list(() => functions.unsigned());
  const reached = new Set();
  const constants = new Set();
  const called = new Set();
  const on = {
    call(index) {
      if (reached.has(index) || index < imported) return;
      reached.add(index);
      walk(bodies[index - imported], on);
    },
    callOfType(type) {
      if (called.has(type)) return;
      called.add(type);
      for (const index of inTable) if (types[index - imported] === type && !unused.has(index)) on.call(index);
    },
    constant(value) {
      constants.add(value);
    },
  };
  for (const { kind, index } of exported) if (kind === 0) on.call(index);

  const data = read(SECTION.data);
  const segments = data.list(() => {
    const [kind, op] = [data.unsigned(), data.byte()];
    const at = data.signed();
    if (kind !== 0 || op !== 0x41 || data.byte() !== 0x0b) throw new Error('data of another kind');
    const content = data.take(data.unsigned());
    return { at, content };
  });
  // Powers of two are sizes.
  const kept = keepReferred(segments, new Set([...constants].filter((value) => (value & (value - 1)) !== 0)));

  const encodedSegments = kept.map(({ at, content }) =>
    Buffer.concat([Uint8Array.of(0, 0x41), signed(at), Uint8Array.of(0x0b), sized(content)]),
  );
  sections.set(SECTION.code, list(bodies.map((body, index) => sized(reached.has(index + imported) ? body : EMPTY))));
  sections.set(
    SECTION.export,
    list(
      exported.map(({ name, kind, index }) =>
        Buffer.concat([sized(Buffer.from(names.get(name))), Uint8Array.of(kind), number(index)]),
      ),
    ),
  );
  sections.set(SECTION.data, list(encodedSegments));
  if (sections.has(SECTION.dataCount)) sections.set(SECTION.dataCount, number(kept.length));
  const pruned = Buffer.concat([
    bytes.subarray(0, 8),
    ...[...sections].filter(([id]) => id !== 0).map(([id, content]) => Buffer.concat([number(id), sized(content)])),
  ]);
  return { pruned, inTable };
}

/** What boxes of several lengths are made of, by a module: the same for every module that can do it. A function that is missing throws. */
async function trial(bytes) {
  const stub = () => 0;
  const { instance } = await WebAssembly.instantiate(bytes, { a: { a: stub, b: stub, c: stub, d: stub } });
  const sodium = instance.exports;
  sodium.construct();
  const [window, key, nonce, tag] = [2 ** 16, 32, 24, 16].map((size) => sodium.malloc(size));
  const state = sodium.malloc(sodium.crypto_onetimeauth_statebytes());
  const results = [];
  for (const length of [0, 1, 15, 16, 17, 63, 64, 65, 1000, 65_000]) {
    const memory = new Uint8Array(sodium.memory.buffer);
    for (const [at, size] of [
      [key, 32],
      [nonce, 24],
      [window, length + 16],
    ])
      // prettier-ignore
      for (let index = 0; index < size; index++) memory[at + index] = (index * 7 + length) % 251;
    results.push(sodium.crypto_secretbox_easy(window, window + 16, length, 0, nonce, key));
    results.push(Buffer.from(memory.subarray(window, window + length + 16)).toString('hex'));
    results.push(sodium.crypto_secretbox_open_easy(window + 16, window, length + 16, 0, nonce, key));
    results.push(sodium.crypto_secretbox_open_easy(window + 16, window, length + 16, 0, nonce, key));
    sodium.crypto_stream_xsalsa20_xor_ic(window, window, length, 0, nonce, 3, 0, key);
    results.push(Buffer.from(memory.subarray(window, window + length)).toString('hex'));
    sodium.crypto_onetimeauth_init(state, window);
    for (const part of [length >> 1, length]) sodium.crypto_onetimeauth_update(state, window, part, 0);
    sodium.crypto_onetimeauth_final(state, tag);
    results.push(Buffer.from(memory.subarray(tag, tag + 16)).toString('hex'));
  }
  return results.join();
}

/** As `prune`, and without the functions of the table that boxes never call: were one called all the same, it would trap. */
async function pruneTable(bytes, names) {
  const { pruned, inTable } = prune(bytes, names);
  const expected = await trial(pruned);
  const unused = new Set();
  for (const index of inTable) {
    unused.add(index);
    const result = await trial(prune(bytes, names, unused).pruned).catch(() => undefined);
    if (result !== expected) unused.delete(index);
  }
  return prune(bytes, names, unused).pruned;
}

/** Data that a constant of the code, or a word of data that is kept, points to. */
function keepReferred(segments, constants) {
  const pointers = new Set(constants);
  const kept = new Set();
  for (let before = -1; before !== kept.size;) {
    before = kept.size;
    for (const segment of segments) {
      const { at, content } = segment;
      const isReferred = [...pointers].some(
        (value) => value >= at - SLACK_BYTES && value < at + content.length + SLACK_BYTES,
      );
      if (kept.has(segment) || !isReferred) continue;
      kept.add(segment);
      for (let word = (4 - (at % 4)) % 4; word + 4 <= content.length; word += 4)
        pointers.add(Buffer.from(content).readUInt32LE(word));
    }
  }
  return segments.filter((segment) => kept.has(segment));
}

/** A constant address. */
function signed(value) {
  const bytes = [];
  for (;;) {
    const byte = value & 0x7f;
    value >>= 7;
    const isLast = (value === 0 && !(byte & 0x40)) || (value === -1 && byte & 0x40);
    bytes.push(isLast ? byte : byte | 0x80);
    if (isLast) return Uint8Array.from(bytes);
  }
}

/** The module of the package, and what it calls the functions we need. */
async function load(path) {
  const { instantiate } = WebAssembly;
  let [bytes, instance] = [];
  WebAssembly.instantiate = async (binary, imports) => {
    bytes = new Uint8Array(binary);
    const result = await instantiate(binary, imports);
    instance = result.instance;
    return result;
  };
  const { default: create } = await import(pathToFileURL(path));
  const sodium = await create();
  WebAssembly.instantiate = instantiate;
  const names = new Map();
  const constructors = Object.entries(instance.exports).find(([, value]) => typeof value === 'function');
  names.set(constructors[0], 'construct');
  for (const [name, value] of Object.entries(instance.exports)) {
    if (value instanceof WebAssembly.Memory) names.set(name, 'memory');
    const needed = NEEDED.find((one) => sodium[`_${one}`] === value);
    // Equal functions were merged, so one may have several names.
    if (needed !== undefined && ![...names.values()].includes(needed)) names.set(name, needed);
  }
  return { bytes, names };
}

/** What the file says now. */
const written = () => Buffer.from(/'([^']+)'/.exec(readFileSync(join(root, TARGET), 'utf8'))[1], 'base64');

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const path = createRequire(join(root, 'packages/zmtp/package.json')).resolve('libsodium-sumo');
const folder = path.slice(0, path.lastIndexOf('libsodium-sumo/dist') + 'libsodium-sumo'.length);
const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const { bytes, names } = await load(join(folder, 'dist/modules-sumo-esm/libsodium-sumo.mjs'));
const module = await pruneTable(bytes, names);
const license = readFileSync(join(folder, 'LICENSE'), 'utf8').trimEnd();
const text = `/*! Part of libsodium ${version} (libsodium-sumo), compiled by its authors. ISC License.
${license}
*/
/** The functions of libsodium that boxes need: WebAssembly, deflated, in base64. Written by scripts/sodium.mjs; do not edit. */
export const SODIUM_MODULE =
  '${deflateRawSync(module, { level: 9 }).toString('base64')}';
`;
if (!process.argv.includes('--check')) writeFileSync(join(root, TARGET), text);
// Another version of zlib may deflate it to other bytes.
else if (!inflateRawSync(written()).equals(module)) {
  console.error(`${TARGET} is not what node scripts/sodium.mjs writes`);
  process.exitCode = 1;
}
console.log(`libsodium ${version}: ${bytes.length} bytes, ${module.length} of them kept, ${text.length} as text`);
