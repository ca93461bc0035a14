/** The operator's actions on each server. */
import type { Action, ActionResult, ServerAction } from './model.js';
import { snapshotOf } from './server.js';
import type { ObservedServer, ServerActions } from './server.js';

const TEXTS = {
  'drain-worker': ['protocol', 'id'],
  'disconnect-worker': ['protocol', 'id'],
  'drain-service': ['protocol', 'name'],
  pause: ['protocol', 'name'],
  resume: ['protocol', 'name'],
  purge: ['protocol', 'name', 'confirm'],
  'requeue-dead': [],
  'discard-dead': [],
  'drain-process': [],
} as const satisfies Record<Action['action'], readonly string[]>;

const IDS_MAX = 10_000;

const NAMES: Readonly<Record<keyof ServerActions, ServerAction>> = {
  drainWorker: 'drain-worker',
  disconnectWorker: 'disconnect-worker',
  drainService: 'drain-service',
  pause: 'pause',
  resume: 'resume',
  purge: 'purge',
  returnDeadLetters: 'requeue-dead',
  removeDeadLetters: 'discard-dead',
};

/** Why a server cannot do an action, and what to do instead. */
const CANNOT: Readonly<Record<Named, string>> = {
  drainWorker: 'has no workers to drain',
  disconnectWorker: 'cannot disconnect a worker: drain it, or end its process',
  drainService: 'cannot drain a service: drain its workers one by one',
  pause: 'cannot pause: drain its workers, or stop them',
  resume: 'cannot pause, so there is nothing to resume',
  purge: 'cannot purge: waiting requests expire by themselves',
};

/** The actions that this server supports. */
export function actionsOf({ actions = {} }: ObservedServer): ServerAction[] {
  return Object.entries(NAMES).flatMap(([key, name]) =>
    actions[key as keyof ServerActions] === undefined ? [] : [name],
  );
}

/** The action that a request body asks for; nothing if it is not a valid action or has extra fields. */
export function parseAction(body: unknown): Action | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { action, ...fields } = body as Readonly<Record<string, unknown>>;
  if (typeof action !== 'string' || !Object.hasOwn(TEXTS, action)) return undefined;
  const texts: readonly string[] = TEXTS[action as Action['action']];
  const names = action.endsWith('-dead') ? ['ids'] : texts;
  const isWhole = Object.keys(fields).length === names.length && names.every((name) => Object.hasOwn(fields, name));
  if (!isWhole || !texts.every((name) => typeof fields[name] === 'string')) return undefined;
  if (action.endsWith('-dead') && fields['ids'] !== 'all' && !isListOfTexts(fields['ids'])) return undefined;
  return body as Action;
}

/** Performs it. Rejects with the server's error. */
export async function act(
  action: Action,
  servers: readonly ObservedServer[],
  drainProcess: (() => void) | undefined,
): Promise<ActionResult> {
  switch (action.action) {
    case 'drain-process':
      if (drainProcess === undefined) return cannot('This process cannot be drained over HTTP.');
      drainProcess();
      return done(1, 'The process drains.');
    case 'requeue-dead':
      return deadLetters(servers, action.ids, 'returnDeadLetters', 'back in the queue');
    case 'discard-dead':
      return deadLetters(servers, action.ids, 'removeDeadLetters', 'discarded');
    case 'purge':
      if (action.confirm !== action.name)
        return cannot(`Not purged: repeat the name of the queue, "${action.name}", to confirm.`);
      return one(servers, action.protocol, 'purge', action.name, 'Messages purged');
    case 'drain-worker':
      return one(servers, action.protocol, 'drainWorker', action.id, 'Workers draining');
    case 'disconnect-worker':
      return one(servers, action.protocol, 'disconnectWorker', action.id, 'Workers disconnected');
    case 'drain-service':
      return one(servers, action.protocol, 'drainService', action.name, 'Workers draining');
    case 'pause':
      return one(servers, action.protocol, 'pause', action.name, 'Queues paused');
    case 'resume':
      return one(servers, action.protocol, 'resume', action.name, 'Queues resumed');
  }
}

type Named = 'drainWorker' | 'disconnectWorker' | 'drainService' | 'pause' | 'resume' | 'purge';

async function one(
  servers: readonly ObservedServer[],
  protocol: string,
  what: Named,
  subject: string,
  text: string,
): Promise<ActionResult> {
  const server = servers.find((each) => each.protocol === protocol);
  if (server === undefined) return cannot(`This process does not serve "${protocol}".`);
  const perform = server.actions?.[what];
  if (perform === undefined) return cannot(`The ${protocol} server ${CANNOT[what]}.`);
  const count = await perform(subject);
  if (what === 'drainService' && count === 0 && hasService(server, subject))
    return done(0, `"${subject}" has no workers, so there is nothing to drain.`);
  // Purging an empty queue succeeds.
  return count === undefined || (count === 0 && what !== 'purge')
    ? cannot(`There is no "${subject}".`)
    : done(count, `${text}: ${count}.`);
}

/** Whether the server shows this service, which may have no workers. */
function hasService({ protocol, facade }: ObservedServer, name: string): boolean {
  return snapshotOf(protocol, facade).services.some((service) => service.name === name);
}

async function deadLetters(
  servers: readonly ObservedServer[],
  ids: readonly string[] | 'all',
  what: keyof Pick<ServerActions, 'returnDeadLetters' | 'removeDeadLetters'>,
  text: string,
): Promise<ActionResult> {
  let isPossible = false;
  let count = 0;
  for (const { deadLetters: list, actions } of servers) {
    const perform = actions?.[what];
    if (perform === undefined || list === undefined) continue;
    isPossible = true;
    // Counts only letters that exist.
    const wanted = ids === 'all' ? undefined : new Set(ids);
    const keys: string[] = [];
    for await (const { key } of list()) if (wanted?.has(key) ?? true) keys.push(key);
    await perform(keys);
    count += keys.length;
  }
  if (!isPossible) return cannot('This process keeps no dead letters.');
  return count === 0
    ? cannot('None of these dead letters exists any more.')
    : done(count, `Dead letters ${text}: ${count}.`);
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length <= IDS_MAX && value.every((each) => typeof each === 'string');
}

function done(count: number, text: string): ActionResult {
  return { ok: true, count, text };
}

function cannot(text: string): ActionResult {
  return { ok: false, count: 0, text };
}
