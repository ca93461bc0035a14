/** Clients and producers, and the page of one. */
import type { VNode } from 'preact';
import { totalOf } from '@proj/observe/model';
import type { ClientRow, Model } from '@proj/observe/model';
import { count } from '../shared/format.js';
import { rowKey } from '../shared/peers.js';
import { Counts, Figure, Figures, Heading, To } from '../parts/bits.js';
import { figure, link } from '../parts/columns.js';
import { Table } from '../parts/table.js';
import type { Column } from '../parts/table.js';
import { keyColumn, KeyOf } from './connections.js';
import { Gone } from './gone.js';
import { NotesOf } from './notes.js';

const COLUMNS: readonly Column<ClientRow>[] = [
  link('id', 'Client', 2, ({ protocol, id }) => ['clients', protocol, id]),
  { id: 'protocol', title: 'Protocol', isExtra: true, value: ({ protocol }) => protocol },
  figure('open', 'Open', ({ open }) => open),
  figure('refused', 'Refused', ({ refused }) => totalOf(refused)),
  keyColumn(2),
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
      <Counts title="Refused, by reason" counts={row.refused} none="None of its requests was refused." />
      <NotesOf model={model} peer={row.id} />
    </>
  );
}
