/** `--access`: rules that say which key may ask for and serve what, from a file that is followed, for all protocols of the program. */
import { processCurve } from '@proj/appkit';
import type { Logger } from '@proj/appkit';
import { accessOptions } from '@proj/broker';
import { Access, parseOptions, ProjError } from '@proj/transport';
import type { AccessRules } from '@proj/transport';
import { accessFile } from '@proj/transport/curve';
import type { Server } from './protocol.js';

/** Rules that are followed. */
export interface FollowedAccess {
  /** As the file has them by now. */
  readonly rules: AccessRules;
  /** Tells the server these rules, and others whenever the file changes. */
  add(server: Server): void;
  /** Follows the file no more. Idempotent. */
  close(): void;
}

/** Reads the file. Rejects with `OPTIONS_INVALID` for one that cannot be read or holds no rules; from then on that is a log line, and the old ones stay. */
export async function followAccess(path: string, log: Logger): Promise<FollowedAccess> {
  const servers = new Set<Server>();
  const file = await accessFile(path, {
    onReload: (read) => {
      const others = rulesOf(read, path);
      for (const server of servers) server.setAccess?.(others);
      rules = others;
      log.info({ path, rules: rules.length }, 'access rules');
    },
    onError: ({ message }) => {
      log.error({ path, reason: message }, 'access rules stay as they were');
    },
  });
  let rules = rulesOf(file.rules, path);
  log.info({ path, rules: rules.length }, 'access rules');
  return {
    get rules() {
      return rules;
    },
    add(server) {
      servers.add(server);
      server.setAccess?.(rules);
    },
    close: () => {
      file.close();
    },
  };
}

function rulesOf(read: unknown, path: string): AccessRules {
  const what = `--access = ${JSON.stringify(path)}`;
  const { access } = parseOptions(what, accessOptions, { access: read });
  if (processCurve() === undefined && new Access(access).namesKeys)
    throw new ProjError(
      'OPTIONS_INVALID',
      `${what}: has rules for single keys: needs --curve-secret-key and --transport zmtp`,
    );
  return access;
}
