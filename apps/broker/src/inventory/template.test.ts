/** Inventories as templates: what NORFAB's may contain, and what no template may reach. */
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadInventory } from './load.js';
import type { Seen } from './load.js';
import { renderTemplate } from './template.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'templates-'));
});
afterEach(() => rm(folder, { recursive: true }));

const ENV = { TOKEN: 's3cret', EMPTY: '', LIST: 'a,b' };

function render(text: string, included: string[] = []): string {
  return renderTemplate('x.yaml', text, { root: folder, env: ENV, onInclude: (file) => included.push(file) });
}

describe('rule 20: a template says', () => {
  it.each([
    ['token: {{ env.get("TOKEN") }}', 'token: s3cret'],
    ['token: {{ env["TOKEN"] }} {{ env.TOKEN }}', 'token: s3cret s3cret'],
    ['{{ env.get("NONE", "default") }} {{ env.get("NONE") }} {{ env.NONE }}|', 'default None |'],
    ['{{ env.get("NONE") or "b" }} {{ env.EMPTY | default("c", true) }}', 'b c'],
    ['{% if "TOKEN" in env %}yes{% else %}no{% endif %} {% if env.get("NONE") %}yes{% else %}no{% endif %}', 'yes no'],
    ['{% if "constructor" in env %}yes{% else %}no{% endif %}', 'no'],
    ['{% for i in range(3) %}- host-{{ i }}\n{% endfor %}', '- host-0\n- host-1\n- host-2\n'],
    ['{% for each in env.LIST.split(",") %}{{ each.upper() }}{{ loop.index }} {% endfor %}', 'A1 B2 '],
    [
      '{% set d = {"a": [1, 2]} %}{{ d.a[1] }} {{ d }} {{ d.get("a") | length }} {{ true }} {{ none }}',
      '2 {"a":[1,2]} 2 True None',
    ],
    ['{# nothing #}a: "{b}"', 'a: "{b}"'],
    ['a: {b: {c: 1}} # ${TOKEN}', 'a: {b: {c: 1}} # ${TOKEN}'],
  ])('%j', (text, expected) => {
    expect(render(text)).toBe(expected);
  });

  it('an include of another file in the folder, which is followed', async () => {
    await writeFile(join(folder, 'common.yaml'), 'site: {{ env.get("TOKEN") }}');
    const included: string[] = [];
    expect(render('{% include "common.yaml" %}', included)).toBe('site: s3cret');
    expect(included).toEqual([join(folder, 'common.yaml')]);
  });
});

describe('rule 20: a template cannot reach', () => {
  it.each([
    '{{ range.constructor("return process")() }}',
    '{{ "".constructor.constructor("return process.env")() }}',
    '{{ [].constructor }}{{ env.constructor }}{{ env.__proto__ }}{{ {}.__proto__ }}',
    '{{ env.get.constructor("return 1")() }}',
    '{{ ("x" | upper)["constructor"] }}',
    '{{ (env | dictsort | first)["constructor"] }}',
    '{{ env["get"]["constructor"]("return 1")() }}',
    '{{ env.get.call }}{{ range.apply }}{{ env.toString }}{{ env.hasOwnProperty }}',
    '{% set k = "constr" ~ "uctor" %}{{ range[k]("return 1")() }}',
    '{{ cycler }}{{ joiner }}{{ process }}{{ globalThis }}{{ require }}{{ this }}{{ context }}{{ runtime }}{{ frame }}',
    '{% macro m() %}{% endmacro %}{{ m.constructor("return 1")() }}',
  ])('by %s', (text) => {
    let told = '';
    try {
      told = render(text);
    } catch (error) {
      expect(error).toMatchObject({ code: 'CORRUPT' });
    }
    expect(told.replaceAll('None', '')).toBe('');
  });

  it('outside the folder', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'outside-'));
    try {
      await writeFile(join(outside, 'secret'), 'SECRET');
      await symlink(join(outside, 'secret'), join(folder, 'link'));
      for (const name of ['../outside', join(outside, 'secret'), 'link', '.', 'none'])
        expect(() => render(`{% include "${name}" %}`)).toThrow(expect.objectContaining({ code: 'CORRUPT' }));
    } finally {
      await rm(outside, { recursive: true });
    }
  });

  it.each([
    ['{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}', /takes more than 2000 ms/],
    ['{% for a in range(10000) %}'.padEnd(200, '0') + '{% endfor %}', /makes more than 1048576 characters/],
    ['{{ range(10001) }}', /range of more than 10000 items/],
    [
      '{% set long = range(1000) | join %}{% for a in range(20) %}{{ a }}{% for b in range(20) %}{{ long }}{% endfor %}{% endfor %}',
      /makes more than 1048576 characters/,
    ],
    ['{% include "self" %}', /includes more than 32 files|takes more than 2000 ms/],
    ['a: {{ oops', /^x\.yaml: template: /],
    ['{{ nobody.knows() }}', /^x\.yaml: template: .*nobody/],
  ])('%s is refused', async (text, message) => {
    await writeFile(join(folder, 'self'), '{% include "self" %}');
    expect(() => render(text)).toThrow(message);
  });
});

describe('an inventory', () => {
  it('rule 20: renders an inventory with all files it names, unless that is turned off', async () => {
    const path = join(folder, 'inventory.yaml');
    await writeFile(
      path,
      'broker: {endpoint: "tcp://{{ env.get("HOST", "127.0.0.1") }}:5555"}\nworkers: {w1: [{% if true %}x.yaml{% endif %}]}\n',
    );
    await writeFile(join(folder, 'x.yaml'), 'token: {{ env.get("TOKEN") }}\n{% include "more.yaml" %}\n');
    await writeFile(join(folder, 'more.yaml'), 'level: {{ 1 + 1 }}\n');
    const seen: Seen = new Map();
    const { inventory, endpoint, warnings } = await loadInventory(path, ENV, seen);
    expect(endpoint).toBe('tcp://127.0.0.1:5555');
    expect(inventory.workers).toMatchObject([{ glob: 'w1', data: { token: 's3cret', level: 2 } }]);
    expect(warnings).toEqual([]);
    expect([...seen.keys()]).toEqual([path, join(folder, 'x.yaml'), join(folder, 'more.yaml')]);
    await expect(loadInventory(path, ENV, new Map(), false)).rejects.toMatchObject({ code: 'CORRUPT' });
  });
});
