/** The part of libsodium in the repository is its authors' code: generated from their package, byte for byte. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ROOT } from './workspace.js';

it('sodium-module.ts is what scripts/sodium.mjs makes of libsodium-sumo', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/sodium.mjs', '--check'], { cwd: ROOT });
  expect(stdout).toMatch(/^libsodium \d/);
});
