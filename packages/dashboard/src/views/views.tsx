/** The views and their routes. */
import type { VNode } from 'preact';
import type { Model } from '@proj/observe/model';
import { keyOf } from '../shared/routes.js';
import type { Route } from '../shared/routes.js';
import { Heading, To } from '../parts/bits.js';
import { Client, Clients } from './clients.js';
import { Connections } from './connections.js';
import { DeadLetter, Queue } from './queue.js';
import { Notes } from './notes.js';
import { Overview } from './overview.js';
import { Scheduler } from './scheduler.js';
import { Service, Services } from './services.js';
import { Worker, Workers } from './workers.js';

/** The views of the navigation: the first part of their path, and their name. */
export const VIEWS: readonly { readonly path: string; readonly name: string }[] = [
  { path: '', name: 'Overview' },
  { path: 'services', name: 'Services' },
  { path: 'workers', name: 'Workers' },
  { path: 'clients', name: 'Clients' },
  { path: 'queue', name: 'Queue' },
  { path: 'scheduler', name: 'Scheduler' },
  { path: 'notes', name: 'Notes' },
  { path: 'connections', name: 'Connections' },
];

/** The title of the window in a view. */
export function titleOf({ path }: Route): string {
  const [first = '', , ...rest] = path;
  if (rest.length > 0) return keyOf(rest);
  return VIEWS.find((view) => view.path === first)?.name ?? 'Not found';
}

/** The view of a route. A row is identified by its protocol and name; the name may contain slashes. */
export function viewOf({ path }: Route, model: Model): VNode {
  const [first, ...rest] = path;
  const key = keyOf(rest);
  switch (first) {
    case undefined:
      return <Overview model={model} />;
    case 'services':
      return rest.length === 0 ? <Services model={model} /> : <Service key={key} model={model} id={key} />;
    case 'workers':
      return rest.length === 0 ? <Workers model={model} /> : <Worker key={key} model={model} id={key} />;
    case 'clients':
      return rest.length === 0 ? <Clients model={model} /> : <Client key={key} model={model} id={key} />;
    case 'queue':
      return rest[0] === 'dead' ? (
        <DeadLetter key={key} model={model} id={keyOf(rest.slice(1))} />
      ) : (
        <Queue model={model} />
      );
    case 'scheduler':
      return <Scheduler model={model} />;
    case 'notes':
      return <Notes model={model} />;
    case 'connections':
      return <Connections model={model} />;
    default:
      return <NotFound />;
  }
}

function NotFound(): VNode {
  return (
    <>
      <Heading title="No such view" />
      <p class="none">
        Nothing is shown under this link. <To path={[]}>Go to the overview</To>.
      </p>
    </>
  );
}
