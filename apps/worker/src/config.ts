/** The options of proj-worker: its own, the shared ones, and those of each protocol there is. */
import { httpOptions, milliseconds, oneOf, transportOption, usual } from '@proj/appkit';
import { sharedOptions } from './protocol.js';
import type { Usual } from './protocol.js';
import { emqp } from './protocols/emqp.js';
import { mdp, mdp01 } from './protocols/mdp.js';
import { nfp } from './protocols/nfp.js';
import { ppp } from './protocols/ppp.js';

/** The protocols that can be spoken. A new one is a file in `protocols/`, a member here, and an `extend` below. */
export const protocols = { mdp, mdp01, ppp, emqp, nfp };

/** Name of a protocol, as in `--protocol`. */
export type ProtocolName = keyof typeof protocols;

const names = Object.keys(protocols) as [ProtocolName, ...ProtocolName[]];

const usualOf = (value: keyof Usual): string =>
  usual(Object.fromEntries(names.map((name) => [name, protocols[name].usual[value]])));

/** Schema of all options. */
export const workerOptions = sharedOptions(usualOf)
  .extend({
    protocol: oneOf(names)
      .default('mdp')
      .describe(names.map((name) => `${name}: ${protocols[name].title}`).join(', ')),
    transport: transportOption(),
    ...httpOptions,
    statsMs: milliseconds({ min: 1 }).default(10_000).describe('how often counters are logged, at level debug'),
  })
  .extend(ppp.options.shape)
  .extend(emqp.options.shape)
  .extend(nfp.options.shape)
  .superRefine((settings, context) => {
    for (const name of names) {
      const refusals = protocols[name].refusals?.(settings, name === settings.protocol) ?? [];
      for (const [option, message] of refusals) context.addIssue({ code: 'custom', path: [option], message });
    }
  });
