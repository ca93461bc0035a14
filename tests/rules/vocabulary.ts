/** One word for one thing: the words of docs/ARCHITECTURE.md as a checker. Works on texts, so that a test can invent files. */
import ts from 'typescript';
import { PROTOCOL_NAMES } from '../protocols.js';
import type { SourceFile } from './workspace.js';

/** A name in a place where it is not allowed. */
export interface Misnomer {
  readonly name: string;
  /** Where it is. */
  readonly paths: readonly string[];
  readonly reason: string;
}

const PROTOCOL = new RegExp(`(?:^|/)(${PROTOCOL_NAMES.join('|')})(?:/|-|\\.|$)`);

/** Roles that every package has one of, although no protocol is in the path. docs/adr/0027-the-same-rooms-everywhere.md says why. */
const ROLES: ReadonlySet<string> = new Set(['BrokerConnection']);

/** Retired names, and their replacements. */
const RETIRED: ReadonlyMap<string, string> = new Map([
  ['LanePool', 'RequestSocketPool'],
  ['LaneRunner', 'SessionHost'],
  ['Link', 'Connection'],
  ['LinkHost', 'ConnectionHost'],
  ['BrokerLink', 'BrokerConnection'],
  ['Books', 'BrokerState'],
  ['newBooks', 'newBrokerState'],
  ['Roster', 'WorkerTable'],
  ['Posters', 'SubmitterStats'],
  ['Jobs', 'Dispatcher or JobTable'],
  ['Calls', 'Dispatcher, CallHandler or CallTracker'],
  ['Seat', 'QueueSubscription'],
  ['RequestTtl', 'RequestExpiry'],
  ['Intake', 'ProducerSide'],
  ['Outlet', 'ConsumerSide'],
  ['Shelf', 'ReadyWindow'],
  ['Taker', 'LeaseFetcher or ByteSink'],
  ['Moments', 'Delays'],
  ['Inlet', 'SocketReader'],
  ['Turning', 'Deferred'],
  ['Orders', 'OpenRequests'],
  ['Desk', 'FileService'],
  ['Crew', 'WorkerGroup'],
  ['Cast', 'TestPeers'],
  ['Station', 'TestPeer'],
]);

/**
 * Names that break a rule: an exported class name occurs once in the repository, or once per protocol of a package, in its folder; and no
 * declaration has a retired name.
 */
export function misnomers(files: readonly SourceFile[]): Misnomer[] {
  const classes = new Map<string, string[]>();
  const found: Misnomer[] = [];
  for (const { path, text } of files)
    for (const { name, isExportedClass } of declarations(path, text)) {
      const now = RETIRED.get(name);
      if (now !== undefined) found.push({ name, paths: [path], reason: `was given up for ${now}` });
      if (isExportedClass) classes.set(name, [...(classes.get(name) ?? []), path]);
    }
  for (const [name, paths] of classes) {
    const places = paths.map(placeOf);
    const isOncePerProtocol = new Set(places).size === places.length && !places.includes(undefined);
    if (paths.length > 1 && !isOncePerProtocol && !ROLES.has(name))
      found.push({ name, paths, reason: 'means several things' });
  }
  return found;
}

/** Package and protocol of a file; `undefined` if it belongs to none. */
function placeOf(path: string): string | undefined {
  const [root, home] = path.split('/');
  if (home === 'scheduler') return 'scheduler';
  const [, protocol] = PROTOCOL.exec(path) ?? [];
  return protocol === undefined ? undefined : `${root}/${home} ${protocol}`;
}

function declarations(path: string, text: string): { name: string; isExportedClass: boolean }[] {
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  return statements.flatMap((statement) => {
    if (
      !ts.isClassDeclaration(statement) &&
      !ts.isInterfaceDeclaration(statement) &&
      !ts.isTypeAliasDeclaration(statement) &&
      !ts.isFunctionDeclaration(statement)
    )
      return [];
    const isExported = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
    const name = statement.name?.text ?? '';
    return [{ name, isExportedClass: isExported && ts.isClassDeclaration(statement) }];
  });
}
