/** Shows which service is slow, which worker is stuck, which queue grows, who sends garbage: faults first, then figures and plots. */
import type { VNode } from 'preact';
import type { HistoryPoint, Model } from '@proj/observe/model';
import { ago, bytes, count, duration, percent, rate, short } from '../shared/format.js';
import { serverNow } from '../shared/merge.js';
import { ActButton, Figure, Figures, Heading, Section } from '../parts/bits.js';
import { Plot } from '../parts/plot.js';
import { Table } from '../parts/table.js';
import { SERVICE_COLUMNS } from './services.js';
import { rowKey } from '../shared/peers.js';

const TOP = 8;
const FAULT_NAMES = {
  'slow-worker': 'Slow worker',
  'stuck-worker': 'Stuck worker',
  'flooding-client': 'Flooding client',
  'service-without-workers': 'No workers',
  'disk-full': 'Disk full',
} as const;

/** The overview. */
export function Overview({ model }: { model: Model }): VNode {
  const { history, process, services } = model;
  const now = history.at(-1);
  const busiest = Object.values(services)
    .sort((a, b) => b.rate - a.rate)
    .slice(0, TOP);
  const hasQueue = 'pzq' in model.servers;
  return (
    <>
      <Heading
        title="Overview"
        aside={
          !process.isDraining && (
            <ActButton
              danger
              action={{ action: 'drain-process' }}
              title="Drain the program"
              question={`${process.name} accepts no more work, finishes what is under way, and stops.`}
            >
              Drain…
            </ActButton>
          )
        }
      />
      <Faults model={model} />
      <Figures>
        <Figure name="Requests per second">{rate(mean(history, ({ ended }) => ended))}</Figure>
        <Figure name="Failed per second" tone={mean(history, ({ failed }) => failed) > 0 ? 'warn' : undefined}>
          {rate(mean(history, ({ failed }) => failed))}
        </Figure>
        <Figure name="Latency, median">{duration(now?.p50 ?? 0)}</Figure>
        <Figure name="Latency, p99">{duration(now?.p99 ?? 0)}</Figure>
        <Figure name="Waiting">{count(now?.waiting ?? 0)}</Figure>
        <Figure name="Running">{count(now?.running ?? 0)}</Figure>
        <Figure name="Workers">{count(Object.keys(model.workers).length)}</Figure>
        <Figure name="Services">{count(Object.keys(services).length)}</Figure>
        <Figure name="Event loop">{percent(now?.busy ?? 0)}</Figure>
        <Figure name="Memory held">
          {bytes(process.memoryHeldBytes)} <small>of {bytes(process.memoryMaxBytes)}</small>
        </Figure>
      </Figures>
      <div class="plots">
        <Plot
          title="Requests per second"
          history={history}
          format={short}
          lines={[
            { name: 'ended', colour: '--line-1', of: ({ ended }) => ended },
            { name: 'failed', colour: '--line-bad', of: ({ failed }) => failed },
          ]}
        />
        <Plot
          title="Latency"
          history={history}
          format={duration}
          lines={[
            { name: 'median', colour: '--line-1', of: ({ p50 }) => p50 },
            { name: 'p99', colour: '--line-2', of: ({ p99 }) => p99 },
          ]}
        />
        <Plot
          title="Requests now"
          history={history}
          format={short}
          lines={[
            { name: 'running', colour: '--line-1', of: ({ running }) => running },
            { name: 'waiting', colour: '--line-2', of: ({ waiting }) => waiting },
          ]}
        />
        {hasQueue ? (
          <QueuePlot history={history} />
        ) : (
          <Plot
            title="Event loop"
            history={history}
            format={percent}
            lines={[{ name: 'busy', colour: '--line-1', of: ({ busy }) => busy }]}
          />
        )}
      </div>
      <Section title="Busiest services">
        <Table
          caption="Busiest services"
          rows={busiest}
          columns={SERVICE_COLUMNS}
          keyOf={rowKey}
          sort={{ column: 'rate', descending: true }}
          none="No service is known."
        />
      </Section>
    </>
  );
}

/** Messages of the durable queue over time. */
export function QueuePlot({ history }: { history: readonly HistoryPoint[] }): VNode {
  return (
    <Plot
      title="Durable queue"
      history={history}
      format={short}
      lines={[
        { name: 'ready', colour: '--line-1', of: ({ ready }) => ready },
        { name: 'in flight', colour: '--line-3', of: ({ inFlight }) => inFlight },
        { name: 'dead', colour: '--line-bad', of: ({ dead }) => dead },
      ]}
    />
  );
}

function Faults({ model }: { model: Model }): VNode {
  const faults = Object.entries(model.faults).sort(([, a], [, b]) => b.since - a.since);
  const now = serverNow(model);
  return (
    <section
      class={`faults ${faults.length > 0 ? 'some' : ''}`}
      aria-label="Faults"
      aria-live="polite"
      aria-relevant="additions"
    >
      {faults.length === 0 && <p>No faults.</p>}
      <ul>
        {faults.map(([key, { code, href, text, since }]) => (
          <li key={key}>
            <a href={`#${href}`}>{FAULT_NAMES[code]}</a>
            <span>{text}</span>
            <time aria-hidden="true">{ago(since, now)}</time>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The mean of the last ten seconds. */
function mean(history: readonly HistoryPoint[], of: (point: HistoryPoint) => number): number {
  const last = history.slice(-10);
  return last.length === 0 ? 0 : last.reduce((sum, point) => sum + of(point), 0) / last.length;
}
