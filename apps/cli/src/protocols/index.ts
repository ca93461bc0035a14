/** The protocols that `proj` knows, from one place. A new one is a file in this folder and a member below. */
import type { Question } from '../question.js';
import { mdp, mdp01 } from './mdp.js';
import { ppp } from './ppp.js';

/** What `proj call` must know of a protocol. */
export interface Callable {
  /** For people. */
  readonly title: string;
  /** Where a broker is, unless told otherwise. */
  readonly endpoint: string;
  /** False: there is one kind of worker, and every word is a frame. */
  readonly hasServices: boolean;
  /** Why these options must be off. */
  readonly without?: Readonly<Partial<Record<'failFast' | 'stream', string>>>;
  /** Command lines for `--help`. */
  readonly examples?: readonly { readonly what: string; readonly line: string }[];
  /** Sends a request and shows what comes of it. */
  ask(question: Question): Promise<void>;
}

/** By the name that `--protocol` of `proj call` has for it. */
export const callables = { mdp, mdp01, ppp } satisfies Readonly<Record<string, Callable>>;

/** Name of one of the {@link callables}. */
export type CallableName = keyof typeof callables;

/** Their names. */
export const callableNames = Object.keys(callables) as [CallableName, ...CallableName[]];

/** What `--protocol` of any command may be. */
export const protocolNames = ['mdp', 'mdp01', 'ppp', 'nfp', 'emqp', 'pzq'] as const;

/** What programs tell figures of over HTTP. */
export const SERVED = ['mdp', 'ppp', 'emqp', 'nfp', 'pzq', 'scheduler'];
