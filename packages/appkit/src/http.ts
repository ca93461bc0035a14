/** `--http`: what a program shows over HTTP. Loaded only if the option is set. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { HttpServer, Note, ObservedServer } from '@proj/observe/http';
import { ProjError } from '@proj/transport';
import type { HandshakeRefusal } from '@proj/transport';
import type * as z from 'zod';
import { text, wholeNumber } from './fields.js';
import type { Logger } from './logging.js';
import { logOfPeer } from './peer-log.js';

/** The options for `--http`. */
export const httpOptions = {
  http: text('HOST:PORT', 'HOST:PORT, such as 127.0.0.1:8055')
    .optional()
    .describe(
      'serve the dashboard, /metrics, /healthz and /readyz here; hosts other than loopback need --http-token-file (default: not served)',
    ),
  httpTokenFile: text('FILE', 'a readable file')
    .optional()
    .describe('file with the token, of 16 characters or more, that allows actions over HTTP'),
  metricsServices: wholeNumber({ min: 0, max: 100_000 })
    .default(1000)
    .describe('number of services with their own metrics; the rest are counted as "other"'),
} satisfies z.ZodRawShape;

/** Values of the {@link httpOptions}. */
export type HttpSettings = z.output<z.ZodObject<typeof httpOptions>>;

/** A server to show. */
export interface ShownServer extends ObservedServer {
  /** Adds a listener for notes. */
  readonly onNote?: (listener: (note: Note) => void) => unknown;
  /** Adds a listener for refused connections. */
  readonly onRefused?: (listener: (refusal: HandshakeRefusal) => void) => unknown;
}

/** The program to show. */
export interface ShownProgram {
  readonly name: string;
  readonly version: string;
  readonly servers: readonly ShownServer[];
  readonly memory?: { stats(): { readonly maxBytes: number; readonly heldBytes: number } };
  readonly log: Logger;
  /** Stops the program as SIGTERM does. */
  readonly onDrain: () => void;
}

/** A running HTTP server. */
export interface Shown {
  /** Does nothing without `--http`. */
  readonly url: string | undefined;
  /** Reports the program as no longer ready. */
  draining(): void;
  close(): Promise<void>;
}

/** Starts what `--http` asks for. Rejects with `OPTIONS_INVALID` or `ADDRESS_IN_USE`. */
export async function show(settings: HttpSettings, program: ShownProgram): Promise<Shown> {
  const { http: listen, httpTokenFile: file } = settings;
  if (listen === undefined) return { url: undefined, draining: () => undefined, close: () => Promise.resolve() };
  const token = file === undefined ? undefined : await readToken(file);
  const { observe, serveHttp } = await import('@proj/observe/http');
  const { name, version, servers, memory, log, onDrain } = program;
  const observer = observe({
    ...{ name, version, servers, hasActions: token !== undefined },
    ...(memory === undefined ? {} : { memory }),
  });
  let server: HttpServer;
  try {
    server = await serveHttp({
      ...{ listen, observer, onDrain, maxServices: settings.metricsServices },
      ...(token === undefined ? {} : { token }),
      assets: fileURLToPath(new URL('dashboard', import.meta.url)),
      onAudit: ({ event, ...fields }) => {
        if (event === 'action') log.info(fields, 'action over http');
        else logOfPeer(log, 'warn', fields, String(event), undefined);
      },
    });
  } catch (error) {
    observer.close();
    throw error;
  }
  for (const { protocol, onNote, onRefused } of servers) {
    onNote?.((note) => {
      observer.note(protocol, note);
    });
    onRefused?.((refusal) => {
      observer.refused(protocol, refusal);
    });
  }
  return {
    url: server.url,
    draining: () => {
      observer.draining();
    },
    close: async () => {
      observer.close();
      await server.close();
    },
  };
}

async function readToken(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new ProjError('OPTIONS_INVALID', `--http-token-file = "${file}": must be a readable file (${reason})`);
  }
}
