/** From what users say about access at run time to what a host is told. */
import { Access, parseOptions } from '@proj/transport';
import type { AccessRules } from '@proj/transport';
import { accessOptions } from './options.js';

/** These rules, compiled. Throws `OPTIONS_INVALID`, in the name of this class, for what are none. */
export function compileAccess(facade: string, rules: AccessRules): Access {
  return new Access(parseOptions(facade, accessOptions, { access: rules }).access);
}
