/** What the facades of all brokers tell an `EngineHost` alike: the options and events that every one of them has. */
import { Access, EngineHost, parseOptions } from '@proj/transport';
import type { AccessRules, Emitter, HandshakeRefusal, HostProgram, Transport } from '@proj/transport';
import { serverCurve, type ServerCurve } from '@proj/transport/curve';
import { loadTransport } from '@proj/zmtp';
import { accessOptions } from './options.js';

/** Options of every broker, validated. */
interface Settings {
  readonly curve?: ServerCurve | undefined;
  readonly access?: AccessRules | undefined;
  readonly transport?: Transport | undefined;
}

/** Events of every broker that are not its engine's. */
interface Events {
  refused: HandshakeRefusal;
  broken: Error;
}

/** What every engine is told. */
type Common = { readonly kind: 'access'; readonly access: Access } | { readonly kind: 'drain' };

/** What only this broker says of itself. */
type Program<Event, Effect> = Pick<
  HostProgram<Event, Effect>,
  'name' | 'engine' | 'sockets' | 'publishers' | 'started' | 'perform' | 'onMemory'
>;

/** The host of one broker; `transport` is asked at the start. */
export function hostOf<Event, Effect>(
  settings: Settings,
  events: Pick<Emitter<Events>, 'emit'>,
  program: Program<Event | Common, Effect>,
  transport = () => loadTransport(settings.transport),
): EngineHost<Event | Common, Effect> {
  return new EngineHost(
    {
      ...program,
      drain: { kind: 'drain' },
      ...serverCurve(settings.curve),
      access: settings.access && new Access(settings.access),
      onAccess: (access) => ({ kind: 'access', access }),
      onRefused: (refusal) => {
        events.emit('refused', refusal);
      },
      onBroken: (error) => {
        events.emit('broken', error);
      },
    },
    transport,
  );
}

/** These rules, compiled. Throws `OPTIONS_INVALID`, in the name of this class, for what are none. */
export function compileAccess(facade: string, rules: AccessRules): Access {
  return new Access(parseOptions(facade, accessOptions, { access: rules }).access);
}
