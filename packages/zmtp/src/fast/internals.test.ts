import { readdirSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { check } from './internals.js';
import { parse } from './switch.js';

const NODE = { node: '20.19.0' };
const SOURCES = new URL('../', import.meta.url);

describe('the undocumented part of Node', () => {
  it('is found in its own sockets', () => {
    expect(check(NODE, new Socket())).toBe(true);
  });

  it.each([
    ['a socket without a handle', NODE, { _server: null, _write: () => undefined }],
    ['a socket without a server', NODE, { _handle: null, _write: () => undefined }],
    ['a socket that cannot be written', NODE, { _handle: null, _server: null }],
    ['Bun', { ...NODE, bun: '1.2.0' }, new Socket()],
    ['Deno', { ...NODE, deno: '2.0.0' }, new Socket()],
  ])('is not used with %s', (_, versions, socket) => {
    expect(check(versions, socket)).toBe(false);
  });

  it('is named in one file only', () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
    const named = files.filter(
      (file) => /(?<!\.test)\.ts$/.test(file) && /\b_(handle|server|write|parent|events)\b/.test(read(file)),
    );
    expect(named).toEqual(['fast/internals.ts']);
  });
});

describe('PROJ_ZMTP_PLAIN', () => {
  it.each([
    ['', []],
    ['0', []],
    ['1', ['spares', 'reading', 'writing', 'polling', 'sodium']],
    ['reading,polling', ['reading', 'polling']],
  ])('%j turns off %j', (value, tricks) => {
    expect([...parse(value)]).toEqual(tricks);
  });

  it('is refused with an unknown name', () => {
    expect(() => parse('true')).toThrow('PROJ_ZMTP_PLAIN=true: must be 1, 0 or a list of spares, reading');
  });
});

function read(file: string): string {
  return readFileSync(new URL(file, SOURCES), 'utf8');
}
