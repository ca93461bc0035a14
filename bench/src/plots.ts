/** Small drawings of findings: curves over a logarithmic axis, or bars. */
import type { Finding, Place } from './statistics.js';

const WIDTH = 720;
const HEIGHT = 360;
const MARGIN = { left: 60, right: 300, top: 40, bottom: 50 };
const BAR = 26;
const LABELS = 260;
const COLORS = ['#1f77b4', '#d62728', '#2ca02c', '#9467bd', '#ff7f0e', '#8c564b', '#17becf', '#7f7f7f'];

type Placed = Finding & { readonly place: Place };

/** An SVG for each plot that findings name, by a name for its file. */
export function plots(findings: readonly Finding[]): Map<string, string> {
  const byPlot = new Map<string, Placed[]>();
  for (const finding of findings) {
    if (finding.place === undefined || !Number.isFinite(finding.measured)) continue;
    const { plot } = finding.place;
    byPlot.set(plot, [...(byPlot.get(plot) ?? []), finding as Placed]);
  }
  const drawn = new Map<string, string>();
  for (const [title, all] of byPlot)
    drawn.set(
      title.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
      all.every(({ place }) => place.x !== undefined) ? curves(title, all) : bars(title, all),
    );
  return drawn;
}

function curves(title: string, points: readonly Placed[]): string {
  const exponents = points.map(({ place }) => Math.log10(place.x ?? 1));
  const [from, to] = [Math.min(...exponents), Math.max(...exponents)];
  const top = 1.15 * Math.max(...points.map(({ measured }) => measured));
  const [width, height] = [WIDTH - MARGIN.left - MARGIN.right, HEIGHT - MARGIN.top - MARGIN.bottom];
  const left = (x: number): number => MARGIN.left + ((Math.log10(x) - from) / (to - from || 1)) * width;
  const down = (y: number): number => MARGIN.top + height - (y / top) * height;
  const parts = [axes(width, height)];
  for (let tick = Math.ceil(from); tick <= to; tick++)
    parts.push(text(left(10 ** tick), MARGIN.top + height + 18, (10 ** tick).toLocaleString('en'), 'middle'));
  for (let tick = 0; tick <= 4; tick++)
    parts.push(text(MARGIN.left - 8, down((tick * top) / 4) + 4, figure((tick * top) / 4), 'end'));
  [...new Set(points.map(({ place }) => place.series))].forEach((series, index) => {
    const color = COLORS[index % COLORS.length] ?? '';
    const line = points.filter(({ place }) => place.series === series);
    const at = line.map(({ place, measured }) => [left(place.x ?? 1), down(measured)].map(round).join(','));
    parts.push(`<polyline points="${at.join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>`);
    for (const point of at)
      parts.push(`<circle cx="${point.split(',')[0]}" cy="${point.split(',')[1]}" r="3" fill="${color}"/>`);
    const y = MARGIN.top + 16 + 20 * index;
    parts.push(
      `<rect x="${WIDTH - MARGIN.right + 16}" y="${y - 9}" width="10" height="10" fill="${color}"/>`,
      text(WIDTH - MARGIN.right + 32, y, series),
    );
  });
  return svg(title, HEIGHT, parts);
}

function bars(title: string, all: readonly Placed[]): string {
  const longest = Math.max(...all.map(({ measured }) => measured));
  const parts = all.flatMap(({ place, measured, unit }, index) => {
    const y = MARGIN.top + 10 + BAR * index;
    const length = (measured / longest) * (WIDTH - LABELS - 130);
    const color = COLORS[place.series.includes('zmtp') || place.series.startsWith('PZQ') ? 0 : 7] ?? '';
    return [
      text(LABELS - 8, y + 13, place.series, 'end'),
      `<rect x="${LABELS}" y="${y}" width="${round(length)}" height="${BAR - 8}" fill="${color}"/>`,
      text(LABELS + round(length) + 6, y + 13, `${figure(measured)} ${unit}`),
    ];
  });
  return svg(title, MARGIN.top + 20 + BAR * all.length, parts);
}

function axes(width: number, height: number): string {
  const [x, y] = [MARGIN.left, MARGIN.top + height];
  return `<path d="M${x} ${MARGIN.top}V${y}H${x + width}" fill="none" stroke="#333"/>`;
}

function text(x: number, y: number, words: string, anchor = 'start'): string {
  const safe = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${safe}</text>`;
}

function svg(title: string, height: number, parts: readonly string[]): string {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`;
  const paper = `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`;
  return `${[head, paper, `<g font-size="15">${text(16, 24, title)}</g>`, ...parts, '</svg>'].join('\n')}\n`;
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}

function figure(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}
