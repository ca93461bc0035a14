/** Which job a body names, compared with the identities that EventMQ gives. */
import { createHash } from 'node:crypto';
import { framesOf } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { emqpJobText } from './index.js';

const textOf = (body: string) => emqpJobText(framesOf(body)[0]!);
const withArgs = (args: string) => textOf(`["run", {"callable": "f", "path": "m", "args": ${args}}]`);
const argsOf = (args: string) => /^\{"args": (.*), "callable"/.exec(withArgs(args) ?? '')?.[1];
const sha1 = (text: string | undefined) => createHash('sha1').update(text!).digest('hex');

describe('the identity of a job', () => {
  test('is that of EventMQ', () => {
    const body =
      '["run", {"callable": "add", "path": "myjobs", "args": [5, 5], "kwargs": {}, "class_args": [], "class_kwargs": {}}]';
    expect(sha1(textOf(body))).toBe('1a3aa8fbf8ce963478f04ef0a3df8944e656b801');
  });

  test('keeps the spelling of numbers, sorts keys and escapes as Python does', () => {
    const body = '["run", {"path": "m", "callable": "f", "args": [1.0, 1e22, "é"], "kwargs": {"b": true, "a": null}}]';
    expect(sha1(textOf(body))).toBe('e12029c99f51a203d1378e573828ca8b25a6f54b');
  });

  test('does not depend on order, spaces, missing arguments, further fields or the first word', () => {
    const full = textOf(
      '["run", {"callable": "f", "path": "m", "args": [], "kwargs": {}, "class_args": [], "class_kwargs": {}}]',
    );
    expect(full).toBe('{"args": [], "callable": "f", "class_args": [], "class_kwargs": {}, "kwargs": {}, "path": "m"}');
    expect(textOf('["go",{"path":"m","callable":"f","x":1}]')).toBe(full);
  });

  test.each([
    ['1', '1'],
    ['-0', '0'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    ['1.0', '1.0'],
    ['-0.0', '-0.0'],
    ['1.50', '1.5'],
    ['0.1', '0.1'],
    ['1E2', '100.0'],
    ['123.456', '123.456'],
    ['1e15', '1000000000000000.0'],
    ['1e16', '1e+16'],
    ['1.25e300', '1.25e+300'],
    ['0.0001', '0.0001'],
    ['0.00012', '0.00012'],
    ['0.00001', '1e-05'],
    ['-2.5e-7', '-2.5e-07'],
    ['5e-324', '5e-324'],
    ['1e999', 'Infinity'],
    ['-1e999', '-Infinity'],
  ])('number %s is %s', (token, printed) => {
    expect(argsOf(`[${token}]`)).toBe(`[${printed}]`);
  });

  test.each([
    ['"$#"', '"$#"'],
    ['"#1"', '"#1"'],
    ['"a\\"b\\\\"', '"a\\"b\\\\"'],
    ['"\\/\\u0041"', '"/A"'],
    ['"\\u007f\\t\\u0001"', '"\\u007f\\t\\u0001"'],
    ['"😀"', '"\\ud83d\\ude00"'],
    ['"1.0"', '"1.0"'],
  ])('text %s is %s', (token, printed) => {
    expect(argsOf(`[${token}]`)).toBe(`[${printed}]`);
  });

  test('keys are sorted by code point, not by UTF-16 unit, and the last of equal ones counts', () => {
    expect(argsOf('{"\\ud83d\\ude00": 1, "\\uff5e": 2, "a": 3, "aa": 4, "__proto__": 5, "a": 6, "1": 7}')).toBe(
      '{"1": 7, "__proto__": 5, "a": 6, "aa": 4, "\\uff5e": 2, "\\ud83d\\ude00": 1}',
    );
  });
});

describe('no job', () => {
  test.each([
    '',
    'run',
    '{}',
    '["run"]',
    '["run", []]',
    '["run", null]',
    '["run", {"callable": "f", "path": "m"}, 1]',
    '[1, {"callable": "f", "path": "m"}]',
    '["", {"callable": "f", "path": "m"}]',
    '["run", {"path": "m"}]',
    '["run", {"callable": "f"}]',
    '["run", {"callable": "", "path": "m"}]',
    '["run", {"callable": 1, "path": "m"}]',
    '["run", {"callable": "f", "path": ["m"]}]',
    '["run", {"callable": "f", "path": "m", "args": [01]}]',
    '["run", {"callable": "f", "path": "m", "args": [NaN]}]',
  ])('%s', (body) => {
    expect(textOf(body)).toBeUndefined();
  });

  test('in bytes that are not UTF-8', () => {
    expect(emqpJobText(Uint8Array.of(0xff))).toBeUndefined();
  });

  test('in a body over 256 KiB or of more than 10,000 values, or nested too deeply for Python, or for anybody', () => {
    expect(withArgs(`["${'x'.repeat(262_000)}"]`)).toBeDefined();
    expect(withArgs(`["${'x'.repeat(262_144)}"]`)).toBeUndefined();
    expect(withArgs(`[${'1,'.repeat(9_990)}1]`)).toBeDefined();
    expect(withArgs(`[${'1,'.repeat(10_000)}1]`)).toBeUndefined();
    expect(withArgs(`${'['.repeat(800)}${']'.repeat(800)}`)).toBeDefined();
    expect(withArgs(`${'['.repeat(902)}${']'.repeat(902)}`)).toBeUndefined();
    expect(withArgs(`${'['.repeat(400_000)}${']'.repeat(400_000)}`)).toBeUndefined();
  });
});
