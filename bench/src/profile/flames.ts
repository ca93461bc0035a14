/**
 * A flame graph: callers below, callees above, as wide as the time they took. The text appears when the pointer rests on a
 * box.
 */
import { escapeXml } from '../plots.js';
import type { Flame } from './fold.js';

const WIDTH = 1200;
const ROW = 16;
const TOP = 34;
/** Approximate width of a letter. */
const LETTER = 6.2;

/** As SVG. */
export function flameGraph(title: string, root: Flame): string {
  const height = TOP + ROW * depthOf(root) + 6;
  const parts: string[] = [];
  const draw = (flame: Flame, x: number, level: number): void => {
    const width = (WIDTH * flame.micros) / root.micros;
    const y = height - 6 - ROW * (level + 1);
    const share = `${((100 * flame.micros) / root.micros).toFixed(1)} %`;
    const letters = Math.floor((width - 4) / LETTER);
    const name = flame.name.length > letters ? flame.name.slice(0, Math.max(0, letters - 1)) : flame.name;
    const words = letters < 3 ? '' : `<text x="${round(x + 2)}" y="${y + 12}">${escapeXml(name)}</text>`;
    const about = escapeXml(`${flame.name} ${flame.place} ${share}`);
    const box = `<rect x="${round(x)}" y="${y}" width="${round(width)}" height="${ROW - 1}" fill="${colorOf(flame)}"/>`;
    parts.push(`<g><title>${about}</title>${box}${words}</g>`);
    let at = x;
    for (const child of flame.children) {
      draw(child, at, level + 1);
      at += (WIDTH * child.micros) / root.micros;
    }
  };
  draw(root, 0, 0);
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="10">`;
  const paper = `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`;
  const caption = `<text x="8" y="20" font-size="14" font-family="sans-serif">${escapeXml(title)}</text>`;
  return `${[head, paper, caption, ...parts, '</svg>'].join('\n')}\n`;
}

function depthOf(flame: Flame): number {
  return 1 + flame.children.reduce((most, child) => Math.max(most, depthOf(child)), 0);
}

/** Our code warm, Node's green, V8's own grey. */
function colorOf({ place, name }: Flame): string {
  if (place === '') return '#c8c8c8';
  if (place.startsWith('node:')) return '#b5dba4';
  // Neighbours differ, and a function keeps its colour.
  const hash = Buffer.from(name).reduce((sum, byte) => (sum * 31 + byte) % 40, 7);
  return `hsl(${15 + hash},85%,68%)`;
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}
