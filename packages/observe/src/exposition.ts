/** Metrics as text: the Prometheus text format 0.0.4, and OpenMetrics 1.0.0. Pure. */
import type { Family, Labels, Sample } from './families.js';

/** The two formats, with their media types. */
export const FORMATS = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
} as const;

/** Name of a format. */
export type Format = keyof typeof FORMATS;

/** The format that a header `Accept` asks for: OpenMetrics where it is named with a quality above 0 that is not below that of plain text. */
export function formatFor(accept: string | undefined): Format {
  const quality = (type: string) => {
    const range = (accept ?? '').split(',').find((each) => each.trim().toLowerCase().startsWith(type));
    if (range === undefined) return 0;
    return Number(/;\s*q=([\d.]+)/i.exec(range)?.[1] ?? 1);
  };
  const open = quality('application/openmetrics-text');
  return open > 0 && open >= quality('text/plain') ? 'openmetrics' : 'prometheus';
}

/** The text of all families. */
export function expose(families: readonly (readonly [Family, readonly Sample[]])[], format: Format): string {
  const lines: string[] = [];
  for (const [{ name, type, help }, samples] of families) {
    if (samples.length === 0) continue;
    // OpenMetrics calls a counter's family by its name without the suffix.
    const family = format === 'openmetrics' && type === 'counter' ? name.replace(/_total$/, '') : name;
    lines.push(`# HELP ${family} ${escape(help, false)}`, `# TYPE ${family} ${type}`);
    for (const { suffix = '', labels, value } of samples)
      lines.push(`${name}${suffix}${labelsText(labels)} ${String(value)}`);
  }
  if (format === 'openmetrics') lines.push('# EOF');
  return `${lines.join('\n')}\n`;
}

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(value, true)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escape(text: string, inQuotes: boolean): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return inQuotes ? escaped.replaceAll('"', '\\"') : escaped;
}
