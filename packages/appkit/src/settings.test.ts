import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bindEndpoint, connectEndpoints, milliseconds, oneOf, onOff, someOf, wholeNumber } from './fields.js';
import { readConfigFile } from './config-file.js';
import { resolveSettings, strayVariables } from './settings.js';
import type { Sources } from './settings.js';

const schema = z.strictObject({
  mdp: bindEndpoint().default('tcp://127.0.0.1:5555'),
  connect: connectEndpoints().optional(),
  liveness: wholeNumber({ min: 2 }).default(3),
  requestTtlMs: milliseconds({ min: 0, max: 1000 }).optional(),
  only: someOf(['mdp', 'ppp']).default(['mdp']),
  dialect: oneOf(['old', 'new']).default('new'),
  bridge: onOff().default(false),
});

function settingsOf(sources: Partial<Sources>) {
  return resolveSettings(schema, { flags: {}, env: {}, envPrefix: 'APP_', ...sources });
}

function fileWith(values: Record<string, unknown>) {
  return { path: 'app.yaml', values };
}

describe('resolveSettings', () => {
  it('fills in defaults and leaves the rest unset', () => {
    expect(settingsOf({})).toEqual({
      mdp: 'tcp://127.0.0.1:5555',
      liveness: 3,
      only: ['mdp'],
      dialect: 'new',
      bridge: false,
    });
  });

  it('prefers the flag to the environment to the file to the default', () => {
    const flags = { liveness: '4' };
    const env = { APP_LIVENESS: '5' };
    const file = fileWith({ liveness: 6 });
    expect(settingsOf({ flags, env, file }).liveness).toBe(4);
    expect(settingsOf({ env, file }).liveness).toBe(5);
    expect(settingsOf({ file }).liveness).toBe(6);
    expect(settingsOf({}).liveness).toBe(3);
  });

  it('knows every option in all three sources', () => {
    const values = {
      mdp: 'tcp://*:*',
      connect: ['tcp://a:1', 'tcp://b:2'],
      liveness: 7,
      requestTtlMs: 0,
      only: ['ppp', 'mdp'],
      dialect: 'old',
      bridge: true,
    };
    const flags = {
      ...values,
      connect: ['tcp://a:1', 'tcp://b:2'],
      liveness: '7',
      requestTtlMs: '0',
      only: ['ppp,mdp'],
    };
    const env = {
      APP_MDP: 'tcp://*:*',
      APP_CONNECT: 'tcp://a:1, tcp://b:2',
      APP_LIVENESS: '7',
      APP_REQUEST_TTL_MS: '0',
      APP_ONLY: 'ppp,mdp',
      APP_DIALECT: 'old',
      APP_BRIDGE: 'true',
    };
    const { requestTtlMs, ...others } = values;
    expect(settingsOf({ flags })).toEqual(values);
    expect(settingsOf({ env })).toEqual(values);
    expect(settingsOf({ file: fileWith({ ...others, 'request-ttl-ms': requestTtlMs }) })).toEqual(values);
  });

  it('treats an empty environment variable and a null in the file as not set', () => {
    expect(settingsOf({ env: { APP_LIVENESS: '' }, file: fileWith({ mdp: null }) })).toEqual(settingsOf({}));
  });

  it.each<[string, Partial<Sources>, string]>([
    ['a number below its bound', { flags: { liveness: '1' } }, '--liveness = 1: must be a whole number, at least 2'],
    ['a number with a unit', { flags: { liveness: '3s' } }, '--liveness = "3s": must be a whole number, at least 2'],
    ['a fraction', { env: { APP_LIVENESS: '2.5' } }, 'APP_LIVENESS = 2.5: must be a whole number, at least 2'],
    [
      'a number above its bound',
      { env: { APP_REQUEST_TTL_MS: '1001' } },
      'APP_REQUEST_TTL_MS = 1001: must be milliseconds as a whole number, from 0 to 1000',
    ],
    [
      'a number written as text in the file',
      { file: fileWith({ liveness: '3' }) },
      'liveness in app.yaml = "3": must be a whole number, at least 2',
    ],
    ['a word that is not among those allowed', { flags: { dialect: 'x' } }, '--dialect = "x": must be one of old, new'],
    [
      'one bad member of a list',
      { flags: { only: ['mdp,nfp'] } },
      '--only = ["mdp","nfp"]: must be a list of mdp, ppp',
    ],
    ['an empty list', { file: fileWith({ only: [] }) }, 'only in app.yaml = []: must be a list of mdp, ppp'],
    [
      'a list that is a mapping',
      { file: fileWith({ only: { a: 1 } }) },
      'only in app.yaml = {"a":1}: must be a list of',
    ],
    ['a switch that is neither', { env: { APP_BRIDGE: 'yes' } }, 'APP_BRIDGE = "yes": must be true or false'],
    [
      'an endpoint without a scheme',
      { flags: { mdp: '127.0.0.1:5555' } },
      '--mdp = "127.0.0.1:5555": must be an endpoint',
    ],
    [
      'an endpoint without a port',
      { flags: { mdp: 'tcp://localhost' } },
      '--mdp = "tcp://localhost": must be an endpoint',
    ],
    [
      'a wildcard to connect to',
      { flags: { connect: ['tcp://*:1'] } },
      '--connect = "tcp://*:1": must be endpoints such as',
    ],
  ])('refuses %s', (_, sources, line) => {
    expect(() => settingsOf(sources)).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
    expect(() => settingsOf(sources)).toThrow(line);
  });

  it('names all refused options in one line', () => {
    const line = '--liveness = 0: must be a whole number, at least 2; APP_DIALECT = "x": must be one of old, new';
    expect(() => settingsOf({ flags: { liveness: '0' }, env: { APP_DIALECT: 'x' } })).toThrow(line);
  });

  it('reports a check over several options as the schema words it', () => {
    const checked = schema.refine(({ liveness, bridge }) => !bridge || liveness > 3, {
      path: ['liveness'],
      message: 'must be above 3 together with --bridge',
    });
    const flags = { bridge: true };
    const sources = { flags, env: {}, envPrefix: 'APP_' };
    expect(() => resolveSettings(checked, sources)).toThrow('--liveness missing: must be above 3 together');
    expect(() => resolveSettings(checked, { ...sources, flags: { ...flags, liveness: '2' } })).toThrow(
      '--liveness = 2: must be above 3 together',
    );
  });
});

describe('readConfigFile', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'appkit-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const known = new Set(['mdp', 'liveness']);
  const written = (source: string) => {
    const path = join(folder, 'app.yaml');
    writeFileSync(path, source);
    return path;
  };

  it('reads a mapping of option names', () => {
    expect(readConfigFile(written('mdp: tcp://*:1\nliveness: 4 # beats\n'), known).values).toEqual({
      mdp: 'tcp://*:1',
      liveness: 4,
    });
  });

  it('reads an empty file as no options', () => {
    expect(readConfigFile(written('# nothing yet\n'), known).values).toEqual({});
  });

  it.each([
    ['a key that is no option', 'mpd: x', /^mpd in .*app\.yaml: no such option; choose from mdp, liveness$/],
    ['a list', '- mdp', /^--config = ".*app\.yaml": must be a mapping/],
    ['what is not YAML', 'mdp: [1,', /^--config = ".*app\.yaml": must be YAML \(.+\)$/],
  ])('refuses %s', (_, source, line) => {
    expect(() => readConfigFile(written(source), known)).toThrow(line);
  });

  it('refuses a missing file', () => {
    expect(() => readConfigFile(join(folder, 'no.yaml'), known)).toThrow(/no\.yaml": must be a readable .*ENOENT/);
  });
});

describe('strayVariables', () => {
  it('names variables with the prefix that set nothing, except those that Kubernetes injects', () => {
    const env = { APP_MPD: 'x', APP_MDP: 'x', APP_PORT: 'x', APP_PORT_5555_TCP: 'x', APP_SERVICE_HOST: 'x', PATH: 'x' };
    expect(strayVariables({ env, envPrefix: 'APP_' }, new Set(['APP_MDP']))).toEqual(['APP_MPD']);
  });
});
