import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { misnomers } from './vocabulary.js';
import { ROOT } from './workspace.js';

const paths = execFileSync('git', ['ls-files', '*.ts', '*.mts'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
const names = (...files: readonly (readonly [string, string])[]): string[] =>
  misnomers(files.map(([path, text]) => ({ path, text }))).map(({ name, reason }) => `${name} ${reason}`);

describe('one word for one thing', () => {
  it.each([
    ['two folders without a protocol', 'packages/zmtp/src/a.ts', 'tests/attack/b.ts'],
    ['a protocol and shared code', 'packages/client/src/nfp/a.ts', 'packages/client/src/b.ts'],
    ['two files of one protocol', 'packages/broker/src/mdp/engine/a.ts', 'packages/broker/src/mdp/engine/b.ts'],
  ])('is broken by a class with the same name in %s', (_where, one, other) => {
    const text = 'export class Thing {}';
    expect(names([one, text], [other, text])).toEqual(['Thing means several things']);
  });

  it.each([
    ['protocols of a package', 'packages/broker/src/mdp/engine/output.ts', 'packages/broker/src/ppp/engine/output.ts'],
    ['packages of a protocol', 'packages/client/src/nfp/engine/output.ts', 'packages/worker/src/nfp/engine/output.ts'],
    ['the queue and a broker', 'packages/pzq/src/engine/output.ts', 'packages/broker/src/emqp/engine/output.ts'],
  ])('allows %s their role names', (_where, one, other) => {
    const text = 'export class Output {}';
    expect(names([one, text], [other, text])).toEqual([]);
  });

  it('is broken by a retired name of any kind, exported or not', () => {
    const text = 'class Shelf {} export interface Desk {} type Taker = 1; function newBooks() {}';
    expect(names(['packages/pzq/src/engine/a.ts', text])).toEqual([
      'Shelf was given up for ReadyWindow',
      'Desk was given up for FileService',
      'Taker was given up for LeaseFetcher or ByteSink',
      'newBooks was given up for newBrokerState',
    ]);
  });

  it('holds in the repository', () => {
    const files = paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
    expect(files.length).toBeGreaterThan(1000);
    expect(misnomers(files)).toEqual([]);
  });
});
