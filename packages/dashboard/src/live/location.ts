/** The route in the address bar. */
import { href, parseHash } from '../shared/routes.js';
import type { Route } from '../shared/routes.js';

/** Where the page is now. */
export function currentRoute(): Route {
  return parseHash(location.hash);
}

/** Changes the query of the current view without a history entry: typing is not navigation. */
export function replaceQuery(query: Readonly<Record<string, string | undefined>>): void {
  const route = currentRoute();
  history.replaceState(null, '', href(route.path, { ...route.query, ...query }));
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/** Calls back when the route changes until the returned function is called. */
export function onRoute(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}
