/** Workers, job managers and consumers, and the page of one. */
import type { VNode } from 'preact';
import type { Model, WorkerRow } from '@proj/observe/model';
import { ago, count, wholeSeconds } from '../shared/format.js';
import { serverNow } from '../shared/merge.js';
import { rowKey } from '../shared/peers.js';
import { ActButton, Counts, Figure, Figures, Heading, Section, ServiceLinks, To, WorkerState } from '../parts/bits.js';
import { figure, link } from '../parts/columns.js';
import { Table } from '../parts/table.js';
import type { Column } from '../parts/table.js';
import { Gone } from './gone.js';
import { KeyOf } from './connections.js';
import { NotesOf } from './notes.js';

/** The columns of a table of workers. */
export function workerColumns(model: Model): readonly Column<WorkerRow>[] {
  const now = serverNow(model);
  return [
    link('id', 'Worker', 1.6, ({ protocol, id }) => ['workers', protocol, id]),
    { id: 'protocol', title: 'Protocol', isExtra: true, value: ({ protocol }) => protocol },
    { id: 'state', title: 'State', value: ({ state }) => state, cell: ({ state }) => <WorkerState state={state} /> },
    figure('since', 'For', ({ stateSince }) => now - stateSince, { format: wholeSeconds }),
    {
      id: 'services',
      title: 'Services',
      isExtra: true,
      width: 1.8,
      value: ({ services }) => services.join(', '),
      cell: (row) => <ServiceLinks {...row} />,
    },
    figure('running', 'Running', (row) => row.running, { isExtra: true }),
    figure('done', 'Done', (row) => row.done),
    figure('heard', 'Heard', ({ lastHeard }) => now - lastHeard, {
      isExtra: true,
      cell: ({ lastHeard }) => ago(lastHeard, now),
    }),
  ];
}

/** All workers. */
export function Workers({ model }: { model: Model }): VNode {
  return (
    <>
      <Heading title="Workers" />
      <Table
        isMain
        caption="Workers"
        rows={Object.values(model.workers)}
        columns={workerColumns(model)}
        keyOf={rowKey}
        sort={{ column: 'id', descending: false }}
        textOf={({ protocol, id, state, services }) => `${protocol} ${id} ${state} ${services.join(' ')}`}
        none="No worker is connected."
      />
    </>
  );
}

/** One worker. */
export function Worker({ model, id: key }: { model: Model; id: string }): VNode {
  const row = model.workers[key];
  if (row === undefined) return <Gone what="worker" id={key} list="workers" />;
  const { protocol, id, state } = row;
  const now = serverNow(model);
  return (
    <>
      <Heading
        title={id}
        above={<To path={['workers']}>Workers</To>}
        aside={
          <>
            <ActButton
              action={{ action: 'drain-worker', protocol, id }}
              title="Drain the worker"
              question={`${id} finishes its work and gets nothing more.`}
            >
              Drain…
            </ActButton>
            <ActButton
              danger
              action={{ action: 'disconnect-worker', protocol, id }}
              title="Disconnect the worker"
              question={`${id} is disconnected now. Others get its work, as after a crash.`}
            >
              Disconnect…
            </ActButton>
          </>
        }
      />
      <Figures>
        <Figure name="State">
          <WorkerState state={state} /> <small>for {wholeSeconds(now - row.stateSince)}</small>
        </Figure>
        <Figure name="Last heard">{ago(row.lastHeard, now)}</Figure>
        <Figure name="Running">{count(row.running)}</Figure>
        <Figure name="Done">{count(row.done)}</Figure>
        <Figure name="Resends it caused" tone={row.resends > 0 ? 'warn' : undefined}>
          {count(row.resends)}
        </Figure>
        <Figure name="Protocol">{protocol}</Figure>
        <Figure name="Key">
          <KeyOf row={row} />
        </Figure>
      </Figures>
      <Section title="Services">
        <p class="text">{row.services.length === 0 ? 'None.' : <ServiceLinks {...row} />}</p>
      </Section>
      <Counts title="Refused, by reason" counts={row.refused} none="None of its messages was refused." />
      <NotesOf model={model} peer={id} />
    </>
  );
}
