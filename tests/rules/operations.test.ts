// docs/operations.md, the alerts and the Grafana dashboard agree, and name existing metrics and notes.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from './workspace.js';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly action: string };
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const OPERATIONS = read('docs/operations.md');
const RULES = parse(read('deploy/prometheus/proj.rules.yaml')) as {
  readonly groups: readonly { readonly rules: readonly Alert[] }[];
};
const RULE_TESTS = parse(read('deploy/prometheus/proj.rules.test.yaml')) as {
  readonly tests: readonly { readonly name: string }[];
};
const DASHBOARD = JSON.parse(read('deploy/grafana/proj.json')) as { readonly panels: readonly Panel[] };
const ALERTS = RULES.groups.flatMap(({ rules }) => rules);

/** Cells of the rows between `<!-- name -->` and `<!-- /name -->`, without the heading. */
function tableOf(name: string): string[][] {
  const [, table = ''] = OPERATIONS.split(new RegExp(`<!-- /?${name} -->`));
  return table
    .trim()
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

const unquoted = (cell: string | undefined) => (cell ?? '').replaceAll('`', '');

/** Labels by metric; a histogram has three names. Prometheus itself provides `up`. */
const METRICS = new Map<string, readonly string[]>([
  ['up', []],
  ...tableOf('metrics').flatMap(([name, type, labels]) => {
    const own = unquoted(labels).split(', ').filter(Boolean);
    const names =
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => unquoted(name) + part) : [unquoted(name)];
    return names.map((each) => [each, type === 'histogram' ? [...own, 'le'] : own] as const);
  }),
]);

/** Labels that each scrape adds. */
const OF_EVERY_METRIC = ['instance', 'job'];

/** What an expression names although it is not served: metrics, and the labels in braces after them. */
function unknownIn(expr: string): string[] {
  const selectors = [...expr.matchAll(/\b(up|(?:proj|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)];
  return selectors.flatMap(([, metric = '', matchers = '']) => {
    const labels = METRICS.get(metric);
    if (labels === undefined) return [metric];
    const used = [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label);
    return used
      .filter((label) => ![...labels, ...OF_EVERY_METRIC].includes(label))
      .map((label) => `${metric}{${label}}`);
  });
}

const PANELS = DASHBOARD.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const));

describe('every metric is in docs/operations.md, with its labels', () => {
  it.each(ALERTS.map(({ alert, expr }) => [alert, expr] as const))('of the alert %s', (_, expr) => {
    expect(unknownIn(expr)).toEqual([]);
    expect(expr).toMatch(/\b(up|(proj|process|nodejs)_\w+)/);
  });

  it.each(PANELS)('of the panel %s', (_, expr) => {
    expect(unknownIn(expr)).toEqual([]);
  });

  it('and unknown metrics would be found', () => {
    expect(unknownIn('rate(proj_nothing_total[5m]) > proj_faults{fault="x", colour="y"}')).toEqual([
      'proj_nothing_total',
      'proj_faults{colour}',
    ]);
  });
});

describe('alerts', () => {
  it('are all in docs/operations.md, with what to do', () => {
    const documented = tableOf('alerts').map(([name, severity, , action]) => [
      unquoted(name),
      severity,
      unquoted(action),
    ]);
    const alerts = ALERTS.map(({ alert, labels, annotations }) => [alert, labels.severity, annotations.action]);
    expect(documented).toEqual(alerts);
    for (const [, , action] of alerts) expect(action).toMatch(/^.{20,}\.$/s);
  });

  it('are each raised by a test', () => {
    const tested = new Set(RULE_TESTS.tests.map(({ name }) => name));
    expect(ALERTS.map(({ alert }) => alert).filter((name) => !tested.has(name))).toEqual([]);
  });
});

it('every note code is in docs/operations.md, with its packages', () => {
  const speakers = new Map<string, Set<string>>();
  for (const name of ['broker', 'client', 'pzq', 'scheduler', 'worker'])
    for (const path of readdirSync(join(ROOT, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' }))
      if (path.endsWith('.ts') && !path.endsWith('.test.ts'))
        for (const [, code = ''] of read(join('packages', name, 'src', path)).matchAll(
          /^.*\b(?:readonly code: |DropNote<)'([a-z-]+)'/gm,
        ))
          speakers.set(code, (speakers.get(code) ?? new Set()).add(name));
  const codes = [...speakers].map(([code, names]) => [code, [...names].sort().join(', ')]).sort();
  expect(tableOf('notes').map(([code, names]) => [unquoted(code), names])).toEqual(codes);
  expect(codes.length).toBeGreaterThan(30);
});
