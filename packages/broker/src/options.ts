/** Fields that the options of all brokers have in common: what an endpoint, a time and a count may be. */
import { accessRules, endpointOf } from '@proj/transport/schemas';
import * as z from 'zod';

export { milliseconds, curveOfServer as curve, transportOfServer as transport } from '@proj/transport/schemas';

const endpoint = endpointOf('must be a ZeroMQ endpoint such as tcp://127.0.0.1:5555 or ipc:///run/broker.sock');

/** Where one ROUTER binds: one endpoint, or up to 16. Port `*` allowed. */
export const endpoints = z.union([endpoint, z.array(endpoint).min(1).max(16)]);

/** Who may do what. */
export const access = accessRules('echo');

/** What `setAccess` of a facade takes. */
export const accessOptions = z.strictObject({
  /** The rules, all of them. */
  access,
});

/** A number of things, at least one. */
export const count = (max: number) => z.int().min(1).max(max);
