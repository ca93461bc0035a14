/** Metrics as text: the Prometheus text format 0.0.4, and OpenMetrics 1.0.0. Pure. */
import type { Family, Labels, Sample } from './families.js';

/** The two formats, with their media types. */
export const FORMATS = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
} as const;

/** Name of a format. */
export type Format = keyof typeof FORMATS;

/** The format that an `Accept` header asks for: OpenMetrics if its quality is above 0 and not below that of plain text. */
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
  const texts = new LabelTexts();
  for (const [{ name, type, help }, samples] of families) {
    if (samples.length === 0) continue;
    // OpenMetrics names a counter's family without the suffix.
    const family = format === 'openmetrics' && type === 'counter' ? name.replace(/_total$/, '') : name;
    lines.push(`# HELP ${family} ${escape(help, false)}`, `# TYPE ${family} ${type}`);
    for (const { suffix = '', labels, value } of samples) lines.push(`${name}${suffix}${texts.of(labels)} ${value}`);
  }
  if (format === 'openmetrics') lines.push('# EOF');
  return `${lines.join('\n')}\n`;
}

/** The texts of labels, each made once: tens of thousands of lines share a few thousand pairs. */
class LabelTexts {
  readonly #pairs = new Map<string, Map<string, string>>();

  of(labels: Labels): string {
    let text = '';
    for (const name in labels) text += (text === '' ? '{' : ',') + this.#pair(name, labels[name] ?? '');
    return text === '' ? '' : `${text}}`;
  }

  #pair(name: string, value: string): string {
    let texts = this.#pairs.get(name);
    if (texts === undefined) this.#pairs.set(name, (texts = new Map<string, string>()));
    let text = texts.get(value);
    if (text === undefined) texts.set(value, (text = `${name}="${escape(value, true)}"`));
    return text;
  }
}

function escape(text: string, inQuotes: boolean): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return inQuotes ? escaped.replaceAll('"', '\\"') : escaped;
}
