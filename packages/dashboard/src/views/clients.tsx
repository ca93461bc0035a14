/** Clients and producers, and the page of one. */
import type { VNode } from 'preact';
import { totalOf } from '@proj/observe/model';
import type { ClientRow, Model } from '@proj/observe/model';
import { count, words } from '../shared/format.js';
import { rowKey } from '../shared/peers.js';
import { Figure, Figures, Heading, Pairs, Section, To } from '../parts/bits.js';
import { Table } from '../parts/table.js';
import type { Column } from '../parts/table.js';
import { KeyOf } from './connections.js';
import { Gone } from './gone.js';
import { NotesOf } from './notes.js';

const COLUMNS: readonly Column<ClientRow>[] = [
  {
    id: 'id',
    title: 'Client',
    width: 2,
    value: ({ id }) => id,
    cell: ({ protocol, id }) => <To path={['clients', protocol, id]}>{id}</To>,
  },
  { id: 'protocol', title: 'Protocol', isExtra: true, value: ({ protocol }) => protocol },
  { id: 'open', title: 'Open', isFigure: true, value: ({ open }) => open, cell: ({ open }) => count(open) },
  {
    id: 'refused',
    title: 'Refused',
    isFigure: true,
    value: ({ refused }) => totalOf(refused),
    cell: ({ refused }) => count(totalOf(refused)),
  },
  {
    id: 'key',
    title: 'Key',
    width: 2,
    isExtra: true,
    value: ({ key }) => key ?? '',
    cell: (row) => <KeyOf row={row} />,
  },
];

/** All clients. */
export function Clients({ model }: { model: Model }): VNode {
  return (
    <>
      <Heading title="Clients" />
      <Table
        isMain
        caption="Clients"
        rows={Object.values(model.clients)}
        columns={COLUMNS}
        keyOf={rowKey}
        sort={{ column: 'refused', descending: true }}
        textOf={({ protocol, id, key }) => `${protocol} ${id} ${key ?? ''}`}
        none="No client has sent a request yet."
      />
    </>
  );
}

/** One client. */
export function Client({ model, id: key }: { model: Model; id: string }): VNode {
  const row = model.clients[key];
  if (row === undefined) return <Gone what="client" id={key} list="clients" />;
  return (
    <>
      <Heading title={row.id} above={<To path={['clients']}>Clients</To>} />
      <Figures>
        <Figure name="Open requests">{count(row.open)}</Figure>
        <Figure name="Refused" tone={totalOf(row.refused) > 0 ? 'warn' : undefined}>
          {count(totalOf(row.refused))}
        </Figure>
        <Figure name="Protocol">{row.protocol}</Figure>
        <Figure name="Key">
          <KeyOf row={row} />
        </Figure>
      </Figures>
      <Section title="Refused, by reason">
        <Pairs
          none="None of its requests was refused."
          pairs={Object.entries(row.refused).map(([reason, number]) => [words(reason), count(number)])}
        />
      </Section>
      <NotesOf model={model} peer={row.id} />
    </>
  );
}
