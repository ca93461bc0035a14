/** The durable queue: what is in it, its dead letters, and the page of one. */
import type { VNode } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { DeadLetterRow, Model } from '@proj/observe/model';
import { viewBody } from '../shared/body.js';
import type { BodyView } from '../shared/body.js';
import { ago, bytes, count, duration, words } from '../shared/format.js';
import { serverNow } from '../shared/merge.js';
import { ActButton, Counts, Figure, Figures, Heading, Section, ServiceLinks, To } from '../parts/bits.js';
import { LiveContext } from '../live/context.js';
import { figure, link } from '../parts/columns.js';
import { Table } from '../parts/table.js';
import { QueuePlot } from './overview.js';
import { ServiceActions } from './services.js';

/** The queue. */
export function Queue({ model }: { model: Model }): VNode {
  const server = model.servers['pzq'];
  const now = serverNow(model);
  const last = model.history.at(-1);
  const dead = Object.values(model.deadLetters);
  if (server === undefined)
    return (
      <>
        <Heading title="Queue" />
        <p class="none">This program has no durable queue. Start one with “proj-queue”.</p>
      </>
    );
  const others = Object.entries(server.gauges).filter(([name]) => !['ready', 'inFlight', 'dead'].includes(name));
  const queues = Object.values(model.services).filter(({ protocol }) => protocol === 'pzq');
  // Dead letters that are being delivered are a service of the same queue.
  const [queue, ...more] = queues.filter(({ isDead }) => isDead !== true);
  return (
    <>
      <Heading title="Queue" aside={queue !== undefined && more.length === 0 && <ServiceActions row={queue} />} />
      {queues.length > 1 && (
        <p>
          Queues: <ServiceLinks protocol="pzq" services={queues.map(({ name }) => name)} />
        </p>
      )}
      <Figures>
        <Figure name="Ready">{count(last?.ready ?? 0)}</Figure>
        <Figure name="In flight">{count(last?.inFlight ?? 0)}</Figure>
        <Figure name="Dead letters" tone={dead.length > 0 ? 'warn' : undefined}>
          {count(last?.dead ?? dead.length)}
        </Figure>
        {server.commit !== undefined && (
          <Figure name="Commit, p50 / p99">
            {duration(server.commit.p50)} / {duration(server.commit.p99)}
          </Figure>
        )}
        {others.map(([name, value]) => (
          <Figure key={name} name={sentence(words(name))}>
            {Number.isInteger(value) ? count(value) : value.toFixed(1)}
          </Figure>
        ))}
      </Figures>
      <div class="plots one">
        <QueuePlot history={model.history} />
      </div>
      <Section title="Dead letters" aside={dead.length > 0 && <AllDead />}>
        <Table
          caption="Dead letters"
          rows={dead}
          keyOf={({ id }) => id}
          sort={{ column: 'at', descending: false }}
          none="No message has died."
          textOf={({ id, reason }) => `${id} ${reason}`}
          columns={[
            link<DeadLetterRow>('id', 'Message', 1.6, ({ id }) => ['queue', 'dead', id]),
            { id: 'reason', title: 'Reason', width: 1.6, value: ({ reason }) => reason },
            { id: 'attempts', title: 'Attempts', isFigure: true, isExtra: true, value: ({ attempts }) => attempts },
            figure<DeadLetterRow>('bytes', 'Size', (row) => row.bytes, { format: bytes, isExtra: true }),
            figure<DeadLetterRow>('at', 'Died', ({ at }) => now - at, { cell: ({ at }) => ago(at, now) }),
          ]}
        />
      </Section>
      <Counts title="Since the start" counts={server.counters} none="Nothing was counted yet." />
    </>
  );
}

/** One dead letter with its body. */
export function DeadLetter({ model, id }: { model: Model; id: string }): VNode {
  const row = model.deadLetters[id];
  if (row === undefined)
    return (
      <>
        <Heading title={id} above={<To path={['queue']}>Queue</To>} />
        <p class="none" role="status">
          This message is no longer a dead letter: it was returned to the queue or discarded.
        </p>
      </>
    );
  return (
    <>
      <Heading
        title={id}
        above={<To path={['queue']}>Queue</To>}
        aside={
          <>
            <ActButton
              action={{ action: 'requeue-dead', ids: [id] }}
              title="Requeue the message"
              question="The message returns to the queue with all its attempts."
            >
              Requeue…
            </ActButton>
            <ActButton
              danger
              action={{ action: 'discard-dead', ids: [id] }}
              title="Discard the message"
              question="The message is deleted for ever."
            >
              Discard…
            </ActButton>
          </>
        }
      />
      <Figures>
        <Figure name="Reason">{row.reason}</Figure>
        <Figure name="Attempts">{count(row.attempts)}</Figure>
        <Figure name="Size">{bytes(row.bytes)}</Figure>
        <Figure name="Died">{ago(row.at, serverNow(model))}</Figure>
      </Figures>
      <Section title="Body">
        <Body row={row} isLocked={model.process.hasActions} />
      </Section>
    </>
  );
}

function AllDead(): VNode {
  return (
    <span class="aside">
      <ActButton
        action={{ action: 'requeue-dead', ids: 'all' }}
        title="Requeue all dead letters"
        question="Every dead letter returns to the queue with all its attempts."
      >
        Requeue all…
      </ActButton>
      <ActButton
        danger
        action={{ action: 'discard-dead', ids: 'all' }}
        title="Discard all dead letters"
        question="Every dead letter is deleted for ever."
      >
        Discard all…
      </ActButton>
    </span>
  );
}

/** The body. A program with a token shows it only with that token. */
function Body({ row: { id }, isLocked }: { row: DeadLetterRow; isLocked: boolean }): VNode {
  const live = useContext(LiveContext);
  const isHidden = isLocked && !live.hasToken;
  const [body, setBody] = useState<BodyView | string>();
  useEffect(() => {
    if (isHidden) return;
    const left = new AbortController();
    live.bodyOf(id, left.signal).then(
      (found) => setBody(viewBody(found)),
      (reason: unknown) => {
        if (!left.signal.aborted) setBody(reason instanceof Error ? reason.message : String(reason));
      },
    );
    return () => left.abort();
  }, [id, isHidden]);
  if (isHidden) return <p class="none">The body requires the token: choose “Unlock”.</p>;
  if (body === undefined) return <p class="none">Loading …</p>;
  if (typeof body === 'string') return <p class="none">{body}</p>;
  return (
    <>
      <pre class="body" tabIndex={0} role="region" aria-label={`Body as ${body.kind}`}>
        {body.text}
      </pre>
      {body.hidden > 0 && <p class="none">{bytes(body.hidden)} more are not shown.</p>}
    </>
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
