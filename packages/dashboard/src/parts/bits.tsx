/** Small elements that all views share. */
import type { ComponentChildren, VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { LatencyRow, WorkerRow } from '@proj/observe/model';
import { count, duration, words } from '../shared/format.js';
import { href } from '../shared/routes.js';
import { ActContext, LiveContext } from '../live/context.js';
import type { Request } from '../live/context.js';

/** A link to a view. */
export function To({
  path,
  query,
  children,
}: {
  path: readonly string[];
  query?: Record<string, string>;
  children: ComponentChildren;
}): VNode {
  return <a href={href(path, query)}>{children}</a>;
}

/** A coloured word; the word alone carries the meaning. */
export function Badge({
  tone,
  children,
}: {
  tone: 'good' | 'busy' | 'warn' | 'bad' | 'plain';
  children: ComponentChildren;
}): VNode {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** The state of a worker. */
export function WorkerState({ state }: Pick<WorkerRow, 'state'>): VNode {
  return <Badge tone={state === 'idle' ? 'good' : state === 'busy' ? 'busy' : 'warn'}>{state}</Badge>;
}

/** One figure with its name. */
export function Figure({
  name,
  children,
  tone,
}: {
  name: string;
  children: ComponentChildren;
  tone?: 'bad' | 'warn' | undefined;
}): VNode {
  return (
    <div class={`figure ${tone ?? ''}`}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Figures side by side. */
export function Figures({ children }: { children: ComponentChildren }): VNode {
  return <dl class="figures">{children}</dl>;
}

/** A part of a view with its own heading. */
export function Section({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
}): VNode {
  return (
    <section class="panel">
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** The heading of a view; it takes the focus when the view opens. */
export function Heading({
  title,
  above,
  aside,
}: {
  title: string;
  above?: ComponentChildren;
  aside?: ComponentChildren;
}): VNode {
  return (
    <div class="heading">
      <div>
        {above !== undefined && <p class="above">{above}</p>}
        <h1 tabIndex={-1}>{title}</h1>
      </div>
      {aside !== undefined && <div class="aside">{aside}</div>}
    </div>
  );
}

/** The figures of a record, by name, or a note that there are none. */
export function Pairs({
  pairs,
  none,
}: {
  pairs: readonly (readonly [string, ComponentChildren])[];
  none: string;
}): VNode {
  if (pairs.length === 0) return <p class="none">{none}</p>;
  return (
    <dl class="pairs">
      {pairs.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Counts by name, in a section of their own. */
export function Counts({
  title,
  counts,
  none,
}: {
  title: string;
  counts: Readonly<Record<string, number>>;
  none: string;
}): VNode {
  return (
    <Section title={title}>
      <Pairs none={none} pairs={Object.entries(counts).map(([name, value]) => [words(name), count(value)])} />
    </Section>
  );
}

/** Links to services, separated by commas. */
export function ServiceLinks({ protocol, services }: { protocol: string; services: readonly string[] }): VNode {
  return (
    <>
      {services.map((name, at) => (
        <span key={name}>
          {at > 0 && ', '}
          <To path={['services', protocol, name]}>{name}</To>
        </span>
      ))}
    </>
  );
}

/** Three percentiles. */
export function Latency({ name, row }: { name: string; row: LatencyRow }): VNode {
  return (
    <Figure name={name}>
      {row.count === 0 ? (
        '–'
      ) : (
        <>
          {duration(row.p50)}{' '}
          <small>
            p95 {duration(row.p95)} · p99 {duration(row.p99)}
          </small>
        </>
      )}
    </Figure>
  );
}

/** A button for an action, if actions are possible and the server supports it. */
export function ActButton({
  children,
  danger = false,
  ...request
}: Request & { children: ComponentChildren; danger?: boolean }): VNode | null {
  const act = useContext(ActContext);
  const { model } = useContext(LiveContext);
  const { action } = request;
  const isOffered =
    !('protocol' in action) || model?.servers[action.protocol]?.actions.includes(action.action) === true;
  if (act === undefined || !isOffered) return null;
  return (
    <button type="button" class={danger ? 'danger' : ''} onClick={() => act(request)}>
      {children}
    </button>
  );
}
