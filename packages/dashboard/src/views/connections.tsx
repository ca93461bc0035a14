/** Endpoints of the program, its peers, and their keys. */
import type { VNode } from 'preact';
import type { Model } from '@proj/observe/model';
import { count, words } from '../shared/format.js';
import { peersOf } from '../shared/peers.js';
import type { PeerRow } from '../shared/peers.js';
import { Heading } from '../parts/bits.js';
import { figure, link } from '../parts/columns.js';
import { Table } from '../parts/table.js';
import type { Column } from '../parts/table.js';

const COLUMNS: readonly Column<PeerRow>[] = [
  link('id', 'Peer', 1.6, ({ kind, protocol, id }) => [`${kind}s`, protocol, id]),
  { id: 'kind', title: 'Role', value: ({ kind }) => kind },
  { id: 'protocol', title: 'Protocol', isExtra: true, value: ({ protocol }) => protocol },
  figure('load', 'Open', ({ load }) => load),
  figure('refused', 'Refused', ({ refused }) => refused, { isExtra: true }),
  keyColumn(2.4),
];

/** Endpoints and peers. */
export function Connections({ model }: { model: Model }): VNode {
  return (
    <>
      <Heading title="Connections" />
      <div class="cards">
        {Object.entries(model.servers).map(([name, { endpoints, dropped, refused }]) => (
          <section class="panel" key={name} aria-label={name}>
            <h2>{name}</h2>
            <dl class="lines">
              {Object.entries(endpoints).map(([role, endpoint]) => (
                <div key={role}>
                  <dt>{words(role)}</dt>
                  <dd>
                    <code>{endpoint}</code>
                  </dd>
                </div>
              ))}
              <div>
                <dt>dropped</dt>
                <dd
                  title={Object.entries(dropped)
                    .map(([reason, number]) => `${words(reason)}: ${number}`)
                    .join(', ')}
                >
                  {inWords(Object.entries(dropped), 'nothing')}
                </dd>
              </div>
              <div>
                <dt>refused handshakes</dt>
                <dd>
                  {inWords(
                    Object.entries(refused).filter(([, number]) => number > 0),
                    'none',
                  )}
                </dd>
              </div>
            </dl>
          </section>
        ))}
      </div>
      <Table
        isMain
        caption="Peers"
        rows={peersOf(model)}
        keyOf={({ protocol, id }) => `${protocol}/${id}`}
        sort={{ column: 'id', descending: false }}
        textOf={({ kind, protocol, id, key }) => `${kind} ${protocol} ${id} ${key ?? ''}`}
        none="Nobody is connected."
        columns={COLUMNS}
      />
    </>
  );
}

function inWords(counts: readonly (readonly [reason: string, number: number])[], none: string): string {
  if (counts.every(([, number]) => number === 0)) return none;
  return counts.map(([reason, number]) => `${count(number)} ${words(reason)}`).join(', ');
}

/** The column of public keys. */
export function keyColumn(width: number): Column<{ readonly key?: string }> {
  return {
    id: 'key',
    title: 'Key',
    width,
    isExtra: true,
    value: ({ key }) => key ?? '',
    cell: (row) => <KeyOf row={row} />,
  };
}

/** The public key of a peer, with a link to all peers with the same key. */
export function KeyOf({ row: { key } }: { row: { readonly key?: string } }): VNode {
  if (key === undefined) return <span class="quiet">no key</span>;
  return (
    <a class="key" title={`All connections with the key ${key}`} href={`#/connections?q=${encodeURIComponent(key)}`}>
      {key}
    </a>
  );
}
