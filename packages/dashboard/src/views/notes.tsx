/** The log of notes, filtered by protocol, reason and peer. */
import type { VNode } from 'preact';
import type { Model, NoteRow } from '@proj/observe/model';
import { replaceQuery } from '../live/location.js';
import { clockTime, count, words } from '../shared/format.js';
import { filterNotes, reasonOf, tally } from '../shared/notes.js';
import type { NoteFilter, Tally } from '../shared/notes.js';
import { pathOfPeer } from '../shared/peers.js';
import { href } from '../shared/routes.js';
import { Heading, Section, To } from '../parts/bits.js';
import { useRoute } from '../live/context.js';
import { Table } from '../parts/table.js';
import type { Column } from '../parts/table.js';

const TOP = 5;

/** The log. */
export function Notes({ model }: { model: Model }): VNode {
  const { query } = useRoute();
  const { protocol, reason, peer } = query;
  const filter: NoteFilter = {
    ...(protocol === undefined ? {} : { protocol }),
    ...(reason === undefined ? {} : { reason }),
    ...(peer === undefined ? {} : { peer }),
  };
  const shown = filterNotes(model.notes, filter);
  const peers = tally(shown.map((note) => note.peer));
  return (
    <>
      <Heading title="Notes" />
      {peer === undefined && peers.length > 0 && (
        <div class="tally">
          <h2>Most often</h2>
          <ol>
            {peers.slice(0, TOP).map(({ name, count: number }) => (
              <li key={name}>
                <a href={href(['notes'], { ...query, peer: name })}>{name}</a> {count(number)}
              </li>
            ))}
          </ol>
        </div>
      )}
      <Table
        isMain
        caption="Notes"
        rows={shown}
        columns={columnsOf(model)}
        keyOf={({ id }) => String(id).padStart(12, '0')}
        sort={{ column: 'at', descending: true }}
        textOf={(note) => `${note.protocol} ${reasonOf(note)} ${note.peer ?? ''} ${note.text}`}
        none="No notes. Engines write them when a message is dropped, a peer is refused, or a worker is lost."
        controls={
          <>
            <Select name="protocol" value={protocol} tally={tally(model.notes.map((note) => note.protocol))} />
            <Select name="reason" value={reason} tally={tally(model.notes.map(reasonOf))} />
            <Select name="peer" value={peer} tally={tally(model.notes.map((note) => note.peer))} />
          </>
        }
      />
    </>
  );
}

/** The notes about one peer, for its page. */
export function NotesOf({ model, peer }: { model: Model; peer: string }): VNode {
  return (
    <Section
      title="Notes"
      aside={
        <To path={['notes']} query={{ peer }}>
          All of them in the log
        </To>
      }
    >
      <Table
        caption={`Notes about ${peer}`}
        rows={filterNotes(model.notes, { peer })}
        columns={columnsOf(model).filter(({ id }) => id !== 'peer')}
        keyOf={({ id }) => String(id).padStart(12, '0')}
        sort={{ column: 'at', descending: true }}
        none="There is no note about it."
      />
    </Section>
  );
}

function columnsOf(model: Model): readonly Column<NoteRow>[] {
  return [
    { id: 'at', title: 'Time', width: 0.7, value: ({ at }) => at, cell: ({ at }) => <time>{clockTime(at)}</time> },
    { id: 'protocol', title: 'Protocol', isExtra: true, width: 0.7, value: ({ protocol }) => protocol },
    { id: 'reason', title: 'Reason', width: 1.2, value: reasonOf, cell: (note) => words(reasonOf(note)) },
    {
      id: 'peer',
      title: 'Peer',
      width: 1,
      value: ({ peer }) => peer ?? '',
      cell: ({ protocol, peer }) => <PeerOf model={model} protocol={protocol} peer={peer} />,
    },
    {
      id: 'text',
      title: 'Text',
      width: 3.2,
      isExtra: true,
      value: ({ text }) => text,
      cell: ({ text }) => <span title={text}>{text}</span>,
    },
  ];
}

function PeerOf({ model, protocol, peer }: { model: Model; protocol: string; peer: string | undefined }): VNode {
  if (peer === undefined) return <>–</>;
  const path = pathOfPeer(model, protocol, peer);
  return path === undefined ? <>{peer}</> : <To path={path}>{peer}</To>;
}

function Select({
  name,
  value,
  tally: options,
}: {
  name: string;
  value: string | undefined;
  tally: readonly Tally[];
}): VNode {
  const names = options.map((option) => option.name);
  return (
    <select
      aria-label={`Filter by ${name}`}
      value={value ?? ''}
      onChange={(event) => replaceQuery({ [name]: event.currentTarget.value })}
    >
      <option value="">Any {name}</option>
      {value !== undefined && !names.includes(value) && <option value={value}>{value} (0)</option>}
      {options.map((option) => (
        <option key={option.name} value={option.name}>
          {name === 'reason' ? words(option.name) : option.name} ({count(option.count)})
        </option>
      ))}
    </select>
  );
}
