/** The frame around every view: the program, navigation, connection state, theme and token. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { applyTheme, savedTheme } from '../live/theme.js';
import type { Status } from '../live/live.js';
import { serverNow } from '../shared/merge.js';
import { wholeSeconds } from '../shared/format.js';
import { href } from '../shared/routes.js';
import { titleOf, VIEWS, viewOf } from '../views/views.js';
import { Badge } from './bits.js';
import { ActContext, useLive, useRoute } from '../live/context.js';
import { ActionDialog } from './dialog.js';
import type { Subject } from './dialog.js';

const SAID_MS = 6000;
const THEMES = { auto: 'light', light: 'dark', dark: 'auto' } as const;

const STATUS: Readonly<Record<Status, string>> = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Connection lost, trying again',
  locked: 'A token is needed',
};

/** The whole page. */
export function Shell(): VNode {
  const live = useLive();
  const route = useRoute();
  const [subject, setSubject] = useState<Subject>();
  const [said, setSaid] = useState('');
  const [theme, setTheme] = useState(savedTheme);
  const main = useRef<HTMLElement>(null);
  const { model, status } = live;
  const place = route.path.join('/');
  const title = titleOf(route);

  useEffect(() => {
    document.title = `${title} · ${model?.process.name ?? 'proj'}`;
  }, [title, model?.process.name]);
  const isFirst = useRef(true);
  useEffect(() => {
    // A screen reader announces where a link led. Opening the page moves no focus.
    if (!isFirst.current) main.current?.querySelector('h1')?.focus();
    isFirst.current = false;
    // On a phone the navigation is wider than the screen.
    document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    scrollTo(0, 0);
  }, [place]);
  useEffect(() => {
    const timer = said === '' ? undefined : setTimeout(() => setSaid(''), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches('input, select, textarea');
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      const search = main.current?.querySelector<HTMLInputElement>('input[type=search]');
      if (search === null || search === undefined) return;
      event.preventDefault();
      search.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  const process = model?.process;
  const faults = Object.keys(model?.faults ?? {}).length;
  const takesActions = process?.hasActions === true;
  return (
    <ActContext.Provider value={takesActions ? setSubject : undefined}>
      <a class="skip" href="#main" onClick={(event) => skipTo(event, main.current)}>
        Skip to the content
      </a>
      <header class="top">
        <p class="program">
          <b>{process?.name ?? 'proj'}</b>
          {process !== undefined && model !== undefined && (
            <span class="quiet extra">
              {process.version} · up {wholeSeconds(serverNow(model) - process.startedAt)} · pid {process.pid}
            </span>
          )}
          {process?.isDraining === true && <Badge tone="warn">draining</Badge>}
        </p>
        <p class="status" role="status">
          <span class={`dot ${status}`} aria-hidden="true" />
          {STATUS[status]}
        </p>
        {(takesActions || status === 'locked') && (
          <button type="button" onClick={() => (live.hasToken ? live.setToken(undefined) : setSubject('token'))}>
            {live.hasToken ? 'Lock' : 'Unlock'}
          </button>
        )}
        <button
          type="button"
          aria-label={`Theme: ${theme}. Change it.`}
          onClick={() => {
            applyTheme(THEMES[theme]);
            setTheme(THEMES[theme]);
          }}
        >
          <span class="extra">Theme: </span>
          {theme}
        </button>
      </header>
      <nav aria-label="Views">
        {VIEWS.map(({ path, name }) => {
          const isHere = (route.path[0] ?? '') === path;
          return (
            <a key={path} href={href(path === '' ? [] : [path])} aria-current={isHere ? 'page' : undefined}>
              {name}
              {path === '' && faults > 0 && (
                <span class="bubble">
                  {faults}
                  <span class="unseen"> faults</span>
                </span>
              )}
            </a>
          );
        })}
      </nav>
      <main id="main" ref={main} tabIndex={-1} class={status === 'lost' ? 'stale' : ''}>
        {model === undefined ? <Waiting status={status} /> : viewOf(route, model)}
      </main>
      <p class={said === '' ? 'said' : 'said shown'} role="status">
        {said}
      </p>
      {subject !== undefined && (
        <ActionDialog
          live={live}
          subject={subject}
          onClose={(text) => {
            setSubject(undefined);
            if (text !== undefined) setSaid(text);
          }}
        />
      )}
    </ActContext.Provider>
  );
}

function Waiting({ status }: { status: Status }): VNode {
  return (
    <>
      <h1 class="unseen" tabIndex={-1}>
        {STATUS[status]}
      </h1>
      <p class="none">
        {status === 'locked' ? 'This program requires its token: choose “Unlock”.' : `${STATUS[status]} …`}
      </p>
    </>
  );
}

function skipTo(event: Event, main: HTMLElement | null): void {
  event.preventDefault();
  main?.focus();
}
