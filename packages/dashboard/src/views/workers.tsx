/** Workers, job managers and consumers, and the page of one. */
import type { ComponentChildren, VNode } from 'preact';
import type { Model, WorkerRow } from '@proj/observe/model';
import { ago, count, wholeSeconds, words } from '../shared/format.js';
import { serverNow } from '../shared/merge.js';
import { rowKey } from '../shared/peers.js';
import { ActButton, Figure, Figures, Heading, Pairs, Section, To, WorkerState } from '../parts/bits.js';
import { Table } from '../parts/table.js';
import type { Column } from '../parts/table.js';
import { Gone } from './gone.js';
import { KeyOf } from './connections.js';
import { NotesOf } from './notes.js';

/** The columns of a table of workers. */
export function workerColumns(model: Model): readonly Column<WorkerRow>[] {
  const now = serverNow(model);
  return [
    {
      id: 'id',
      title: 'Worker',
      width: 1.6,
      value: ({ id }) => id,
      cell: ({ protocol, id }) => <To path={['workers', protocol, id]}>{id}</To>,
    },
    { id: 'protocol', title: 'Protocol', isExtra: true, value: ({ protocol }) => protocol },
    { id: 'state', title: 'State', value: ({ state }) => state, cell: ({ state }) => <WorkerState state={state} /> },
    {
      id: 'since',
      title: 'For',
      isFigure: true,
      value: ({ stateSince }) => now - stateSince,
      cell: ({ stateSince }) => wholeSeconds(now - stateSince),
    },
    {
      id: 'services',
      title: 'Services',
      isExtra: true,
      width: 1.8,
      value: ({ services }) => services.join(', '),
      cell: (row) => <ServicesOf row={row} />,
    },
    {
      id: 'running',
      title: 'Running',
      isFigure: true,
      isExtra: true,
      value: (row) => row.running,
      cell: (row) => count(row.running),
    },
    { id: 'done', title: 'Done', isFigure: true, value: (row) => row.done, cell: (row) => count(row.done) },
    {
      id: 'heard',
      title: 'Heard',
      isFigure: true,
      isExtra: true,
      value: ({ lastHeard }) => now - lastHeard,
      cell: ({ lastHeard }) => ago(lastHeard, now),
    },
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
              request={{
                action: { action: 'drain-worker', protocol, id },
                title: 'Drain the worker',
                question: `${id} finishes its work and gets nothing more.`,
              }}
            >
              Drain…
            </ActButton>
            <ActButton
              danger
              request={{
                action: { action: 'disconnect-worker', protocol, id },
                title: 'Disconnect the worker',
                question: `${id} is disconnected now. Others get its work, as after a crash.`,
              }}
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
        <p class="text">{row.services.length === 0 ? 'None.' : <ServicesOf row={row} />}</p>
      </Section>
      <Section title="Refused, by reason">
        <Pairs
          none="None of its messages was refused."
          pairs={Object.entries(row.refused).map(([reason, number]) => [words(reason), count(number)])}
        />
      </Section>
      <NotesOf model={model} peer={id} />
    </>
  );
}

function ServicesOf({ row: { protocol, services } }: { row: WorkerRow }): ComponentChildren {
  return services.map((name, at) => (
    <span key={name}>
      {at > 0 && ', '}
      <To path={['services', protocol, name]}>{name}</To>
    </span>
  ));
}
