/** What may come on a connection, and when: 37/ZMTP, "Grammar", with the handshakes of 24/ZMTP-PLAIN and 26/CURVEZMQ. */
import type { Legality } from '@proj/transport';

/** The states of a connection. */
export type Stage = 'greeting' | 'handshake' | 'traffic' | 'failed';

/** What may follow the greeting: a command by its name, or a message. */
export type Received = 'ERROR' | 'PING' | 'PONG' | 'SUBSCRIBE' | 'CANCEL' | 'other command' | 'message';

/** What the connection does with it. */
type Verdict =
  | 'accept'
  /** Pass it to the mechanism; {@link HANDSHAKE} says whether it is legal. */
  | 'step'
  | 'ignore'
  /** End the connection. */
  | 'fail';

type Rulings = Legality<Stage, Received, Verdict>[Stage];

const ALL_FAIL: Rulings = {
  ERROR: ['fail', 'failed'],
  PING: ['fail', 'failed'],
  PONG: ['fail', 'failed'],
  SUBSCRIBE: ['fail', 'failed'],
  CANCEL: ['fail', 'failed'],
  'other command': ['fail', 'failed'],
  message: ['fail', 'failed'],
};

/** The table of a connection. Before the greeting is complete nothing else is read; after a failure nothing is. */
export const CONNECTION: Legality<Stage, Received, Verdict> = {
  greeting: ALL_FAIL,
  handshake: {
    ...ALL_FAIL,
    PING: ['step', 'failed'],
    PONG: ['step', 'failed'],
    SUBSCRIBE: ['step', 'failed'],
    CANCEL: ['step', 'failed'],
    'other command': ['step', 'handshake', 'traffic', 'failed'],
  },
  traffic: {
    ...ALL_FAIL,
    PING: ['accept'],
    PONG: ['accept'],
    SUBSCRIBE: ['accept'],
    CANCEL: ['accept'],
    'other command': ['ignore'],
    message: ['accept'],
  },
  failed: ALL_FAIL,
};

/** Transitions without a command or message. */
export const CONNECTION_MOVES = [
  ['greeting', 'greeting complete', 'handshake'],
  ['greeting', 'not ZMTP, another mechanism, too late', 'failed'],
  ['handshake', 'malformed, too late', 'failed'],
  ['traffic', 'malformed, too large, silent', 'failed'],
] as const;

/** A handshake command, by name. */
export type HandshakeCommand = 'HELLO' | 'WELCOME' | 'INITIATE' | 'READY' | 'another';

/** What a side waits for. Only in NULL do both sides send READY at once. */
export type HandshakeState =
  | 'NULL, READY sent'
  | 'client, HELLO sent'
  | 'client, INITIATE sent'
  | 'server'
  | 'server, WELCOME sent'
  | 'complete';

const EARLY: Readonly<Record<HandshakeCommand, readonly ['fail']>> = {
  HELLO: ['fail'],
  WELCOME: ['fail'],
  INITIATE: ['fail'],
  READY: ['fail'],
  another: ['fail'],
};

/** For NULL, and for PLAIN and CURVE, which have the same commands in the same order. */
export const HANDSHAKE: Legality<HandshakeState, HandshakeCommand, 'accept' | 'fail'> = {
  'NULL, READY sent': { ...EARLY, READY: ['accept', 'complete'] },
  'client, HELLO sent': { ...EARLY, WELCOME: ['accept', 'client, INITIATE sent'] },
  'client, INITIATE sent': { ...EARLY, READY: ['accept', 'complete'] },
  server: { ...EARLY, HELLO: ['accept', 'server, WELCOME sent'] },
  'server, WELCOME sent': { ...EARLY, INITIATE: ['accept', 'complete'] },
  complete: EARLY,
};
