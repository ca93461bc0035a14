/** Services, queues and job types, and the page of one. */
import type { VNode } from 'preact';
import { failures } from '@proj/observe/model';
import type { Model, ServiceRow } from '@proj/observe/model';
import { count, duration, rate, words } from '../shared/format.js';
import { rowKey, workersOf } from '../shared/peers.js';
import { ActButton, Figure, Figures, Heading, Latency, Pairs, Section, To } from '../parts/bits.js';
import { figure, link } from '../parts/columns.js';
import { Table } from '../parts/table.js';
import type { Column } from '../parts/table.js';
import { Gone } from './gone.js';
import { workerColumns } from './workers.js';

/** The columns of a table of services. */
export const SERVICE_COLUMNS: readonly Column<ServiceRow>[] = [
  link('name', 'Service', 2.4, ({ protocol, name }) => ['services', protocol, name]),
  { id: 'protocol', title: 'Protocol', isExtra: true, value: ({ protocol }) => protocol },
  figure('rate', 'Per s', (row) => row.rate, { format: rate }),
  figure('failed', 'Failed', failures, { isExtra: true }),
  figure('waiting', 'Waiting', (row) => row.waiting, { width: 1.2 }),
  figure('oldest', 'Oldest', (row) => row.oldestWaitingMs, {
    isExtra: true,
    cell: (row) => (row.waiting === 0 ? '–' : duration(row.oldestWaitingMs)),
  }),
  figure('running', 'Running', (row) => row.running, { isExtra: true }),
  figure('p99', 'p99', ({ work }) => work.p99, {
    cell: ({ work }) => (work.count === 0 ? '–' : duration(work.p99)),
  }),
  figure('workers', 'Workers', (row) => row.workers, {
    isExtra: true,
    cell: (row) => (row.workers === 0 && row.isDead !== true ? <b class="bad">none</b> : count(row.workers)),
  }),
];

/** All services. */
export function Services({ model }: { model: Model }): VNode {
  return (
    <>
      <Heading title="Services" />
      <Table
        isMain
        caption="Services"
        rows={Object.values(model.services)}
        columns={SERVICE_COLUMNS}
        keyOf={rowKey}
        sort={{ column: 'rate', descending: true }}
        textOf={({ protocol, name }) => `${protocol} ${name}`}
        none="No service is known: no worker has registered one, and no client has asked for one."
      />
    </>
  );
}

/** One service and its workers. */
export function Service({ model, id }: { model: Model; id: string }): VNode {
  const row = model.services[id];
  if (row === undefined) return <Gone what="service" id={id} list="services" />;
  const { protocol, name } = row;
  const outcomes = Object.entries(row.outcomes).sort(([, a], [, b]) => b - a);
  return (
    <>
      <Heading title={name} above={<To path={['services']}>Services</To>} aside={<ServiceActions row={row} />} />
      <Figures>
        <Figure name="Protocol">{protocol}</Figure>
        <Figure name="Requests per second">{rate(row.rate)}</Figure>
        <Figure name="Waiting" tone={row.isPaused === true ? 'warn' : undefined}>
          {count(row.waiting)}
          {row.isPaused === true && <small> paused</small>}
        </Figure>
        <Figure name="Oldest waiting">{row.waiting === 0 ? '–' : duration(row.oldestWaitingMs)}</Figure>
        <Figure name="Running">{count(row.running)}</Figure>
        <Figure name="Workers" tone={row.workers === 0 && row.isDead !== true ? 'bad' : undefined}>
          {count(row.workers)}
        </Figure>
        <Latency name="Time waiting, last minute" row={row.wait} />
        <Latency name="Time at a worker, last minute" row={row.work} />
      </Figures>
      <Section title="Since the start">
        <Pairs
          none="No request has ended yet."
          pairs={[
            ['requests', count(row.requests)],
            ...outcomes.map(([outcome, number]) => [words(outcome), count(number)] as const),
            ['resends', count(row.resends)],
          ]}
        />
      </Section>
      <Section title="Workers">
        <Table
          caption={`Workers of ${name}`}
          rows={workersOf(model.workers, row)}
          columns={workerColumns(model)}
          keyOf={rowKey}
          sort={{ column: 'state', descending: false }}
          none="No worker serves it."
        />
      </Section>
    </>
  );
}

/** The actions on a service or queue that its server supports. */
export function ServiceActions({ row: { protocol, name, isPaused, isDead } }: { row: ServiceRow }): VNode {
  return (
    <>
      {isDead !== true &&
        (isPaused === true ? (
          <ActButton
            action={{ action: 'resume', protocol, name }}
            title="Resume the queue"
            question={`Workers of ${name} get its messages again.`}
          >
            Resume…
          </ActButton>
        ) : (
          <ActButton
            action={{ action: 'pause', protocol, name }}
            title="Pause the queue"
            question={`${name} accepts messages, but workers get none until you resume it.`}
          >
            Pause…
          </ActButton>
        ))}
      <ActButton
        danger
        action={{ action: 'drain-service', protocol, name }}
        title="Drain the service"
        question={`The workers of ${name} finish their work and get nothing more.`}
      >
        Drain…
      </ActButton>
      {isDead !== true && (
        <ActButton
          danger
          action={{ action: 'purge', protocol, name, confirm: '' }}
          title="Purge the queue"
          question={`Everything waiting in ${name} is deleted for ever.`}
          confirm={name}
        >
          Purge…
        </ActButton>
      )}
    </>
  );
}
