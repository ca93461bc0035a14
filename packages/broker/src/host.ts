/** The `EngineHost` settings that the facades of all brokers share: common options and events. */
import { Access, EngineHost, parseOptions } from '@proj/transport';
import type { AccessRules, Emitter, HostEvents, HostProgram, Transport } from '@proj/transport';
import { serverCurve, type ServerCurve } from '@proj/transport/curve';
import { loadTransport } from '@proj/zmtp';
import { accessOptions } from './options.js';

/** Events of every broker with registered workers. */
export interface BrokerEvents<Ready, Lost, Note> extends HostEvents {
  'worker-ready': Ready;
  'worker-lost': Lost;
  /** A note for the log. At most once a minute for the same peer and reason. */
  note: Note;
}

/** Options of every broker, validated. */
interface Settings {
  readonly curve?: ServerCurve | undefined;
  readonly access?: AccessRules | undefined;
  readonly transport?: Transport | undefined;
}

/** Common settings of every engine. */
type Common = { readonly kind: 'access'; readonly access: Access } | { readonly kind: 'drain' };

/** What each broker supplies. */
type Program<Event, Effect> = Pick<
  HostProgram<Event, Effect>,
  'name' | 'engine' | 'sockets' | 'publishers' | 'started' | 'perform' | 'onMemory'
>;

/** The host of one broker. Calls `transport` when it starts. */
export function hostOf<Event, Effect>(
  settings: Settings,
  events: Pick<Emitter<HostEvents>, 'emit'>,
  program: Program<Event | Common, Effect>,
  transport = () => loadTransport(settings.transport, settings.curve),
): EngineHost<Event | Common, Effect> {
  return new EngineHost(
    {
      ...program,
      drain: { kind: 'drain' },
      ...serverCurve(settings.curve),
      access: settings.access && new Access(settings.access),
      onAccess: (access) => ({ kind: 'access', access }),
      events,
    },
    transport,
  );
}

/** Compiles access rules. Throws `OPTIONS_INVALID` with this class's name if they are invalid. */
export function compileAccess(facade: string, rules: AccessRules): Access {
  return new Access(parseOptions(facade, accessOptions, { access: rules }).access);
}
