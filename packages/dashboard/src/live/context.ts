/** What views read: the connection, the model, the route, and the way to act. */
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Action } from '@proj/observe/model';
import { Live } from './live.js';
import { currentRoute, onRoute } from './location.js';
import type { Route } from '../shared/routes.js';

/** The connection that the page has. */
export const LiveContext = createContext(new Live());

/** An action to confirm. */
export interface Request {
  readonly action: Action;
  /** Title of the dialog, and its button: a verb and its object. */
  readonly title: string;
  /** What will happen, in a sentence. */
  readonly question: string;
  /** A word to type first. */
  readonly confirm?: string;
}

/** Asks for confirmation, and for the token if there is none yet. `undefined`: the program takes no actions. */
export const ActContext = createContext<((request: Request) => void) | undefined>(undefined);

/** The connection; the component is drawn again with each change. */
export function useLive(): Live {
  const live = useContext(LiveContext);
  const [, redraw] = useState({});
  useEffect(() => {
    // What changed between the first drawing and now was told to nobody.
    redraw({});
    return live.subscribe(() => redraw({}));
  }, [live]);
  return live;
}

const NARROW = '(max-width: 820px)';

/** Whether there is little room, as in style.css. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const list = matchMedia(NARROW);
    const measure = () => setNarrow(list.matches);
    list.addEventListener('change', measure);
    return () => list.removeEventListener('change', measure);
  }, []);
  return isNarrow;
}

/** The route; the component is drawn again when it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => onRoute(() => setRoute(currentRoute())), []);
  return route;
}
