/** A live plot of the last 15 minutes: lines over time, with the latest values as text beside their names. */
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import type { HistoryPoint } from '@proj/observe/model';

const HEIGHT = 140;

/** A line of a plot. */
export interface Line {
  readonly name: string;
  /** The variable of style.css with its colour. */
  readonly colour: '--line-1' | '--line-2' | '--line-3' | '--line-bad';
  readonly of: (point: HistoryPoint) => number;
}

/** The content of a plot. */
export interface PlotProps {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly history: readonly HistoryPoint[];
  /** Formats a value with its unit. */
  readonly format: (value: number) => string;
}

/** The plot. */
export function Plot({ title, lines, history, format }: PlotProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const data = (): UPlot.AlignedData => [
    history.map(({ at }) => at),
    ...lines.map(({ of }) => history.map((point) => of(point))),
  ];

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const make = () => {
      plot.current?.destroy();
      plot.current = new UPlot(optionsOf(element, lines, format), data(), element);
    };
    make();
    const resize = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    resize.observe(element);
    // A canvas does not follow the colours of the page by itself.
    const theme = new MutationObserver(make);
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', make);
    return () => {
      resize.disconnect();
      theme.disconnect();
      system.removeEventListener('change', make);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, []);

  useEffect(() => plot.current?.setData(data()), [history]);

  const last = history.at(-1);
  const now = lines.map((line) => `${line.name} ${last === undefined ? '–' : format(line.of(last))}`);
  return (
    <figure class="plot">
      <figcaption>
        <h2>{title}</h2>
        <ul>
          {lines.map(({ name, colour, of }) => (
            <li key={name}>
              <span class="swatch" data-colour={colour} aria-hidden="true" />
              {name} <b>{last === undefined ? '–' : format(of(last))}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <div ref={box} role="img" aria-label={`${title}, the last 15 minutes. Now: ${now.join(', ')}.`} />
    </figure>
  );
}

function optionsOf(element: HTMLElement, lines: readonly Line[], format: PlotProps['format']): UPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--quiet'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: colour('--rule'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: Math.max(element.clientWidth, 200),
    height: HEIGHT,
    padding: [6, 10, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: 'time' }, points: { size: 6 }, drag: { x: false, y: false } },
    scales: { x: { time: true }, y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.12 : 1] } },
    axes: [
      { ...axis, grid: { show: false }, size: 24, space: 90, values: (_plot, splits) => splits.map(timeOfDay) },
      { ...axis, size: 58, space: 28, values: (_plot, splits) => splits.map(format) },
    ],
    series: [
      {},
      ...lines.map((line, at) => ({
        label: line.name,
        stroke: colour(line.colour),
        width: 1.5,
        points: { show: false },
        ...(at === 0 ? { fill: colour(`${line.colour}-fill`) } : {}),
      })),
    ],
  };
}

function timeOfDay(at: number): string {
  return new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' }).format(at * 1000);
}
