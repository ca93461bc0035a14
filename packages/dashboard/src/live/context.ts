/** What views use: the connection, the model, the route, and actions. */
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Action } from '@proj/observe/model';
import { Live } from './live.js';
import { currentRoute, onRoute } from './location.js';
import type { Route } from '../shared/routes.js';

/** The page's connection. */
export const LiveContext = createContext(new Live());

/** An action to confirm. */
export interface Request {
  readonly action: Action;
  /** Title of the dialog and label of its button: a verb and its object. */
  readonly title: string;
  /** What will happen, in one sentence. */
  readonly question: string;
  /** A word to type first. */
  readonly confirm?: string;
}

/** Asks for confirmation, and for the token if there is none yet. `undefined`: the program does not accept actions. */
export const ActContext = createContext<((request: Request) => void) | undefined>(undefined);

/** The connection. Redraws the component on each change. */
export function useLive(): Live {
  const live = useContext(LiveContext);
  const [, redraw] = useState({});
  useEffect(() => {
    // Nobody was notified of changes since the first drawing.
    redraw({});
    return live.subscribe(() => redraw({}));
  }, [live]);
  return live;
}

const NARROW = '(max-width: 820px)';

/** Whether the window is small, as in style.css. */
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

/** The route. Redraws the component when it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => onRoute(() => setRoute(currentRoute())), []);
  return route;
}
