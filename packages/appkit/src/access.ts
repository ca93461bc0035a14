/** `--access`: access rules for all servers of the program, from a file that is reloaded when it changes. */
import { Access, parseOptions, ProjError } from '@proj/transport';
import type { AccessRules, OptionsSchema } from '@proj/transport';
import { accessFile } from '@proj/transport/curve';
import { processCurve } from './encryption.js';
import { text } from './fields.js';
import type { Logger } from './logging.js';

/** The option `access`. */
export const accessOption = () =>
  text('FILE', 'a file name')
    .optional()
    .describe(
      'JSON file of access rules: which key may request and serve which names; reloaded when it changes (default: no restrictions)',
    );

/** A server with access rules. */
interface Server {
  setAccess(rules: AccessRules): void;
}

/** Reloading rules. */
interface FollowedAccess {
  /** The rules as last read. */
  readonly rules: AccessRules;
  /** Applies these rules to the server, and the new ones whenever the file changes. */
  add(server: Server): void;
  /** Reads the file again now. Rejects with `OPTIONS_INVALID` and keeps the old rules if it is invalid. */
  reload(): Promise<void>;
  /** Stops watching the file. Idempotent. */
  close(): void;
}

/**
 * Reads a file whose content fits `schema` as `access`. Rejects with `OPTIONS_INVALID` if it cannot be read or has no valid rules. Later
 * failures are logged, and the old rules stay.
 */
export async function followAccess(
  path: string,
  schema: OptionsSchema<{ readonly access: AccessRules }>,
  log: Logger,
): Promise<FollowedAccess> {
  const servers = new Set<Server>();
  const file = await accessFile(path, {
    onReload: (read) => {
      const others = rulesOf(read, path, schema);
      for (const server of servers) server.setAccess(others);
      rules = others;
      log.info({ path, rules: rules.length }, 'access rules');
    },
    onError: ({ message }) => {
      log.error({ path, reason: message }, 'access rules were not changed');
    },
  });
  let rules = rulesOf(file.rules, path, schema);
  log.info({ path, rules: rules.length }, 'access rules');
  return {
    get rules() {
      return rules;
    },
    add(server) {
      servers.add(server);
      server.setAccess(rules);
    },
    reload: () => file.reload(),
    close: () => {
      file.close();
    },
  };
}

function rulesOf(read: unknown, path: string, schema: OptionsSchema<{ readonly access: AccessRules }>): AccessRules {
  const what = `--access = ${JSON.stringify(path)}`;
  const { access } = parseOptions(what, schema, { access: read });
  if (processCurve() === undefined && new Access(access).namesKeys)
    throw new ProjError(
      'OPTIONS_INVALID',
      `${what}: rules for single keys need --curve-secret-key and --transport zmtp`,
    );
  return access;
}
