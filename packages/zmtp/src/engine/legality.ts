/** What may come on a connection, and when: 37/ZMTP, "Grammar", with the handshakes of 24/ZMTP-PLAIN and 26/CURVEZMQ. */
import type { Legality } from '@proj/transport';

/** How far a connection is. */
export type Stage = 'greeting' | 'handshake' | 'traffic' | 'failed';

/** What comes: a greeting, a command by its name, or a message. */
export type Received = 'greeting' | 'ERROR' | 'PING' | 'PONG' | 'SUBSCRIBE' | 'CANCEL' | 'other command' | 'message';

/** What the connection does with it. */
type Verdict =
  | 'accept'
  /** Begin the handshake of the mechanism. */
  | 'begin'
  /** Pass it to the mechanism; its {@link HANDSHAKE} says whether it is legal. */
  | 'step'
  | 'ignore'
  /** End the connection. */
  | 'fail';

const FAILS = ['fail', 'failed'] as const;
const IGNORES = ['ignore'] as const;

/** Of one connection. Nothing but the greeting is read before it is complete. */
export const CONNECTION: Legality<Stage, Received, Verdict> = {
  greeting: {
    greeting: ['begin', 'handshake'],
    ERROR: FAILS,
    PING: FAILS,
    PONG: FAILS,
    SUBSCRIBE: FAILS,
    CANCEL: FAILS,
    'other command': FAILS,
    message: FAILS,
  },
  handshake: {
    greeting: FAILS,
    ERROR: FAILS,
    PING: ['step'],
    PONG: ['step'],
    SUBSCRIBE: ['step'],
    CANCEL: ['step'],
    'other command': ['step', 'traffic'],
    message: FAILS,
  },
  traffic: {
    greeting: FAILS,
    ERROR: FAILS,
    PING: ['accept'],
    PONG: ['accept'],
    SUBSCRIBE: ['accept'],
    CANCEL: ['accept'],
    'other command': IGNORES,
    message: ['accept'],
  },
  failed: {
    greeting: IGNORES,
    ERROR: IGNORES,
    PING: IGNORES,
    PONG: IGNORES,
    SUBSCRIBE: IGNORES,
    CANCEL: IGNORES,
    'other command': IGNORES,
    message: IGNORES,
  },
};

/** Ends of a connection that nothing received causes. */
export const CONNECTION_MOVES = [
  ['greeting', 'not ZMTP, another mechanism, too late', 'failed'],
  ['handshake', 'not proved, not let in, too late', 'failed'],
  ['traffic', 'silent, malformed, too large', 'failed'],
] as const;

/** A command of a handshake, by its name. */
export type HandshakeCommand = 'HELLO' | 'WELCOME' | 'INITIATE' | 'READY' | 'another';

/** What a side waits for. Only NULL has both sides say READY at once. */
export type HandshakeState =
  'NULL, READY sent' | 'client, HELLO sent' | 'client, INITIATE sent' | 'server' | 'server, WELCOME sent' | 'complete';

const EARLY: Readonly<Record<HandshakeCommand, readonly ['fail']>> = {
  HELLO: ['fail'],
  WELCOME: ['fail'],
  INITIATE: ['fail'],
  READY: ['fail'],
  another: ['fail'],
};

/** Of NULL, and of PLAIN and CURVE, which have the same commands in the same order. */
export const HANDSHAKE: Legality<HandshakeState, HandshakeCommand, 'accept' | 'fail'> = {
  'NULL, READY sent': { ...EARLY, READY: ['accept', 'complete'] },
  'client, HELLO sent': { ...EARLY, WELCOME: ['accept', 'client, INITIATE sent'] },
  'client, INITIATE sent': { ...EARLY, READY: ['accept', 'complete'] },
  server: { ...EARLY, HELLO: ['accept', 'server, WELCOME sent'] },
  'server, WELCOME sent': { ...EARLY, INITIATE: ['accept', 'complete'] },
  complete: EARLY,
};
