/** The options of proj-broker: its own, the shared ones, and those of each protocol. */
import { accessOption, httpOptions, hubOptions, milliseconds, someOf, usual } from '@proj/appkit';
import { sharedOptions } from './protocol.js';
import { emqp } from './protocols/emqp.js';
import { mdp } from './protocols/mdp.js';
import { nfp } from './protocols/nfp.js';
import { ppp } from './protocols/ppp.js';

/** The protocols that can be served, in this order. To add one, add a file to `protocols/`, a member here, and an `extend` below. */
export const protocols = { mdp, nfp, emqp, ppp };

/** Name of a protocol, as in `--only`. */
export type ProtocolName = keyof typeof protocols;

/** Their names, in the same order. */
export const names = Object.keys(protocols) as [ProtocolName, ...ProtocolName[]];

/** A shared option, described with the defaults of all protocols. */
function withUsual<const Name extends 'heartbeatMs' | 'liveness'>(name: Name): (typeof sharedOptions.shape)[Name] {
  const option = sharedOptions.shape[name];
  const values = Object.fromEntries(names.map((each) => [each, protocols[each].usual[name]]));
  return option.describe(`${option.description} (default: ${usual(values)})`);
}

/** Schema of all options. */
export const brokerOptions = sharedOptions
  .extend({
    heartbeatMs: withUsual('heartbeatMs'),
    liveness: withUsual('liveness'),
    only: someOf(names)
      .default(names)
      .describe(`protocols to serve: ${names.join(', ')}`),
    ...hubOptions,
    ...httpOptions,
    access: accessOption(),
    statsMs: milliseconds({ min: 1 }).default(10_000).describe('how often counters are logged, at level debug'),
  })
  .extend(mdp.options.shape)
  .extend(nfp.options.shape)
  .extend(emqp.options.shape)
  .extend(ppp.options.shape);
