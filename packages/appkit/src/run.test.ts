import { ProjError } from '@proj/transport';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { oneOf, onOff, serviceNames, wholeNumber } from './fields.js';
import { defineCommand } from './program.js';
import type { Command, Context, Program } from './program.js';
import { execute } from './run.js';
import { Stopped } from './signals.js';

const options = z.strictObject({
  count: wholeNumber({ min: 1 }).default(1).describe('how often'),
  name: serviceNames().optional().describe('who'),
  loud: onOff().default(false).describe('in capitals'),
});
type Seen = Context<z.output<typeof options>>;

function programOf(...commands: [Command, ...Command[]]): Program {
  return {
    name: 'greet',
    version: '1.2.3',
    summary: 'Greets.',
    envPrefix: 'GREET_',
    logging: { fd: 2, level: 'warn' },
    commands,
  };
}

function greet(run: (context: Seen) => Promise<number | undefined> = () => Promise.resolve(undefined)): Command {
  return defineCommand({
    name: 'hello',
    summary: 'Says hello.',
    options,
    operands: [{ syntax: '[whom...]', help: 'whom to greet' }],
    examples: [{ what: 'greet the world', line: '--count 2 world' }],
    run,
  });
}

const other = defineCommand({
  name: 'wave',
  summary: 'Waves.',
  options: z.strictObject({ hand: oneOf(['left', 'right']).default('left') }),
  examples: [],
  run: () => Promise.resolve(undefined),
});

async function outcome(program: Program, args: string[], env: Record<string, string> = {}, stop?: AbortSignal) {
  let out = '';
  let err = '';
  const code = await execute(program, {
    args,
    env,
    signals: { stop: stop ?? new AbortController().signal, onEndedAtOnce: () => undefined, onHangup: () => undefined },
    writeOut: (text) => (out += text),
    writeError: (text) => (err += text),
  });
  return { code, out, err };
}

describe('execute', () => {
  it('gives the command its settings and operands', async () => {
    const seen: Seen[] = [];
    const program = programOf(
      greet((context) => {
        seen.push(context);
        context.print('hello');
        return Promise.resolve(undefined);
      }),
    );
    const result = await outcome(program, ['a', '--count', '2', '--name', 'x', '--name', 'y,z', 'b'], {
      GREET_LOUD: '1',
    });
    expect(result).toEqual({ code: 0, out: 'hello\n', err: '' });
    expect(seen[0]?.settings).toEqual({ count: 2, name: ['x', 'y', 'z'], loud: true });
    expect(seen[0]?.operands).toEqual(['a', 'b']);
  });

  it('turns a switch off again', async () => {
    let loud: boolean | undefined;
    const program = programOf(
      greet(({ settings }) => {
        loud = settings.loud;
        return Promise.resolve(undefined);
      }),
    );
    await outcome(program, ['--no-loud'], { GREET_LOUD: 'true' });
    expect(loud).toBe(false);
  });

  it.each<[string, () => Promise<number | undefined>, number, string]>([
    ['the code a command returns', () => Promise.resolve(1), 1, ''],
    ['3 for a timeout', () => Promise.reject(new ProjError('TIMEOUT', 'no answer')), 3, 'greet: no answer\n'],
    ['2 for refused options', () => Promise.reject(new ProjError('OPTIONS_INVALID', 'a\n  b')), 2, 'greet: a b\n'],
    [
      '1 for any other failure',
      () => Promise.reject(new ProjError('ADDRESS_IN_USE', 'x in use')),
      1,
      'greet: x in use\n',
    ],
  ])('ends with %s', async (_, run, code, err) => {
    expect(await outcome(programOf(greet(run)), [])).toEqual({ code, out: '', err });
  });

  it('lets no words of a peer steer the terminal', async () => {
    const refused = () => Promise.reject(new ProjError('REJECTED', 'no\x1b[2J\nnew\x9bline\u202e'));
    expect((await outcome(programOf(greet(refused)), [])).err).toBe('greet: no\u00b7[2J new\u00b7line\u00b7\n');
  });

  it('shows where an unexpected exception happened', async () => {
    const result = await outcome(programOf(greet(() => Promise.reject(new TypeError('bug')))), []);
    expect(result.code).toBe(1);
    expect(result.err).toMatch(/^greet: TypeError: bug\n +at /);
  });

  it('ends with the code of the signal, silently, when interrupted', async () => {
    const reason = new Stopped('SIGINT', 130);
    const run = ({ stop }: Seen) => Promise.reject(stop.reason as Error);
    expect(await outcome(programOf(greet(run)), [], {}, AbortSignal.abort(reason))).toEqual({
      code: 130,
      out: '',
      err: '',
    });
  });

  it.each([
    [
      'an unknown flag',
      ['--cuont', '2'],
      /^greet: unknown option '--cuont' \(Did you mean --count\?\): '--help' shows/,
    ],
    [
      'a flag without value',
      ['--count'],
      /^greet: option '--count <N>' argument missing: must be a whole number, at least 1\n/,
    ],
    ['a bad value', ['--count', '0'], /^greet: --count = 0: must be a whole number, at least 1\n$/],
    [
      'a missing file',
      ['--config', '/no/such'],
      /^greet: --config = "\/no\/such": must be a readable YAML file \(ENOENT\)\n$/,
    ],
    ['a bad log level', ['--log-level', 'loud'], /^greet: --log-level = "loud": must be one of trace, debug, /],
  ])('refuses %s with one line', async (_, args, line) => {
    const result = await outcome(programOf(greet()), args);
    expect(result).toMatchObject({ code: 2, out: '' });
    expect(result.err).toMatch(line);
    expect(result.err.split('\n')).toHaveLength(2);
  });

  it.each([
    ['no command', [], 'greet: command missing: must be one of hello, wave\n'],
    ['an unknown command', ['hallo'], /^greet: unknown command 'hallo'.* must be one of hello, wave\n$/],
    ['too many operands', ['wave', 'x'], /^greet: too many arguments.*: '--help' shows what is allowed\n$/],
  ])('refuses %s when there are several commands', async (_, args, line) => {
    const result = await outcome(programOf(greet(), other), args);
    expect(result.code).toBe(2);
    expect(result.err).toMatch(line);
  });

  it('prints help with options, defaults, examples and the other sources', async () => {
    const { code, out } = await outcome(programOf(greet()), ['--help']);
    expect(code).toBe(0);
    for (const part of [
      'Usage: greet',
      'Says hello.',
      '--count <N>',
      'how often (default: 1)',
      '--log-level',
      '--config',
    ])
      expect(out).toContain(part);
    for (const part of ['# greet the world', 'greet --count 2 world', 'GREET_COUNT']) expect(out).toContain(part);
  });

  it('prints the help of one command among several', async () => {
    const { code, out } = await outcome(programOf(greet(), other), ['hello', '--help']);
    expect(code).toBe(0);
    expect(out).toContain('greet hello --count 2 world');
  });

  it('prints its commands and its version', async () => {
    const { out } = await outcome(programOf(greet(), other), ['--help']);
    expect(out).toContain('Says hello.');
    expect(out).toContain('Waves.');
    expect(await outcome(programOf(greet(), other), ['--version'])).toEqual({ code: 0, out: '1.2.3\n', err: '' });
    expect(await outcome(programOf(greet()), ['--version'])).toEqual({ code: 0, out: '1.2.3\n', err: '' });
  });
});
