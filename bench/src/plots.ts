/** Small drawings of findings: curves over a logarithmic axis, and bars for each table. */
import { figure, groupBy } from './statistics.js';
import type { Cell, Finding, Place } from './statistics.js';

const WIDTH = 720;
const HEIGHT = 360;
const MARGIN = { left: 60, right: 300, top: 40, bottom: 50 };
const BAR = 11;
const LABELS = 260;
const COLORS = ['#1f77b4', '#d62728', '#2ca02c', '#9467bd', '#ff7f0e', '#8c564b', '#17becf', '#7f7f7f'];

type Placed = Finding & { readonly place: Place };
type Celled = Finding & { readonly cell: Cell };

/** An SVG for each curve and each table that findings name, by file name. */
export function plots(findings: readonly Finding[]): Map<string, string> {
  const finite = findings.filter(({ measured }) => Number.isFinite(measured));
  const placed = finite.filter((finding): finding is Placed => finding.place !== undefined);
  const celled = finite.filter((finding): finding is Celled => finding.cell !== undefined);
  const drawn = new Map<string, string>();
  for (const [title, points] of groupBy(placed, ({ place }) => place.plot))
    drawn.set(fileName(title), curves(title, points));
  for (const [title, cells] of groupBy(celled, ({ cell }) => cell.table))
    drawn.set(fileName(title), bars(title, cells));
  return drawn;
}

function fileName(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

function curves(title: string, points: readonly Placed[]): string {
  const exponents = points.map(({ place }) => Math.log10(place.x));
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
    const color = colorOf(index);
    const line = points.filter(({ place }) => place.series === series);
    const at = line.map(({ place, measured }) => [left(place.x), down(measured)].map(round).join(','));
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

/** A panel for each unit, a group for each row, a bar for each column of that unit. */
function bars(title: string, cells: readonly Celled[]): string {
  const parts: string[] = [];
  let y = MARGIN.top + 14;
  for (const [unit, panel] of groupBy(cells, (one) => one.unit)) {
    const columns = [...new Set(panel.map(({ cell }) => cell.column))];
    parts.push(text(LABELS - 8, y, unit, 'end'));
    columns.forEach((column, index) => {
      const x = LABELS + 150 * index;
      parts.push(`<rect x="${x}" y="${y - 9}" width="10" height="10" fill="${colorOf(index)}"/>`);
      parts.push(text(x + 14, y, column));
    });
    y += 10;
    const longest = Math.max(...panel.map(({ measured }) => measured));
    for (const [row, group] of groupBy(panel, ({ cell }) => cell.row)) {
      parts.push(text(LABELS - 8, y + (BAR * group.length) / 2 + 4, row, 'end'));
      for (const { cell, measured } of group) {
        const length = round((measured / longest) * (WIDTH - LABELS - 80));
        const color = colorOf(columns.indexOf(cell.column));
        parts.push(`<rect x="${LABELS}" y="${y}" width="${length}" height="${BAR - 1}" fill="${color}"/>`);
        parts.push(text(LABELS + length + 4, y + 9, figure(measured), 'start', 10));
        y += BAR;
      }
      y += 6;
    }
    y += 22;
  }
  return svg(title, y - 10, parts);
}

function colorOf(index: number): string {
  return COLORS[index % COLORS.length] ?? '';
}

function axes(width: number, height: number): string {
  const [x, y] = [MARGIN.left, MARGIN.top + height];
  return `<path d="M${x} ${MARGIN.top}V${y}H${x + width}" fill="none" stroke="#333"/>`;
}

function text(x: number, y: number, words: string, anchor = 'start', size?: number): string {
  const small = size === undefined ? '' : ` font-size="${size}"`;
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}"${small}>${escapeXml(words)}</text>`;
}

/** Text escaped for XML. */
export function escapeXml(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function svg(title: string, height: number, parts: readonly string[]): string {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`;
  const paper = `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`;
  return `${[head, paper, `<g font-size="15">${text(16, 24, title)}</g>`, ...parts, '</svg>'].join('\n')}\n`;
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}
