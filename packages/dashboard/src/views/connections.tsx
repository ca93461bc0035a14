/** Endpoints of the program, its peers, and their keys. */
import type { VNode } from 'preact';
import { totalOf } from '@proj/observe/model';
import type { Model } from '@proj/observe/model';
import { count, words } from '../shared/format.js';
import { peersOf } from '../shared/peers.js';
import { Heading, To } from '../parts/bits.js';
import { Table } from '../parts/table.js';

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
                  {totalOf(dropped) === 0
                    ? 'nothing'
                    : Object.entries(dropped)
                        .map(([reason, number]) => `${count(number)} ${words(reason)}`)
                        .join(', ')}
                </dd>
              </div>
              <div>
                <dt>refused handshakes</dt>
                <dd>
                  {totalOf(refused) === 0
                    ? 'none'
                    : Object.entries(refused)
                        .filter(([, number]) => number > 0)
                        .map(([reason, number]) => `${count(number)} ${words(reason)}`)
                        .join(', ')}
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
        columns={[
          {
            id: 'id',
            title: 'Peer',
            width: 1.6,
            value: ({ id }) => id,
            cell: ({ kind, protocol, id }) => <To path={[`${kind}s`, protocol, id]}>{id}</To>,
          },
          { id: 'kind', title: 'Role', value: ({ kind }) => kind },
          { id: 'protocol', title: 'Protocol', isExtra: true, value: ({ protocol }) => protocol },
          { id: 'load', title: 'Open', isFigure: true, value: ({ load }) => load, cell: ({ load }) => count(load) },
          {
            id: 'refused',
            title: 'Refused',
            isFigure: true,
            isExtra: true,
            value: ({ refused }) => refused,
            cell: ({ refused }) => count(refused),
          },
          {
            id: 'key',
            title: 'Key',
            width: 2.4,
            isExtra: true,
            value: ({ key }) => key ?? '',
            cell: (row) => <KeyOf row={row} />,
          },
        ]}
      />
    </>
  );
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
