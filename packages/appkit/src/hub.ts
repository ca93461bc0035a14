/** The sockets of a program that peers connect to, and the memory limit for peers. See docs/adr/0026-one-budget-of-memory.md. */
import { totalmem } from 'node:os';
import { MemoryBudget, ProjError } from '@proj/transport';
import type { Transport } from '@proj/transport';
import { zmqTransport } from '@proj/transport/zmq';
import { ZMTP_LIMITS, ZmtpTransport } from '@proj/zmtp';
import type * as z from 'zod';
import { Collector } from './collector.js';
import { encrypted } from './encryption.js';
import { bytes, wholeNumber } from './fields.js';
import type { Logger } from './logging.js';
import { logOfPeer } from './peer-log.js';
import { transportOption } from './transport.js';

/** About as much as an idle broker needs. */
const MEMORY_MIN_BYTES = 2 ** 26;

/** Socket options of such a program. */
export const hubOptions = {
  transport: transportOption(),
  pollUs: wholeNumber({ min: 0, max: 10_000 })
    .optional()
    .describe(
      'microseconds to poll for the next message before sleeping, with --transport zmtp, if measurements show that it helps; 0 for never (default: 200, or 0 on a single core)',
    ),
  memoryMax: bytes({ min: MEMORY_MIN_BYTES })
    .optional()
    .describe(
      'memory for all peers together: waiting messages, tables, connections; new work is refused from 80 % on; SIGHUP reloads it from the configuration file (default: half the memory of the machine or its cgroup)',
    ),
  connectionsMax: wholeNumber(ZMTP_LIMITS.connectionsMax)
    .optional()
    .describe(
      `connections at one endpoint, with --transport zmtp (default: ${ZMTP_LIMITS.connectionsMax.default}, or a quarter of --memory-max at 16 KiB each if that is less)`,
    ),
  connectionsPerAddressMax: wholeNumber(ZMTP_LIMITS.connectionsPerAddressMax)
    .optional()
    .describe('connections from one address, with --transport zmtp (default: as --connections-max)'),
  handshakesMax: wholeNumber(ZMTP_LIMITS.handshakesMax)
    .optional()
    .describe(
      `open handshakes at one socket, with --transport zmtp; one more cuts the oldest (default: ${ZMTP_LIMITS.handshakesMax.default})`,
    ),
  unfinishedMaxBytes: bytes(ZMTP_LIMITS.unfinishedMaxBytes)
    .optional()
    .describe(
      `memory for incomplete messages at one socket, with --transport zmtp (default: ${ZMTP_LIMITS.unfinishedMaxBytes.default})`,
    ),
  unreadMaxBytes: bytes(ZMTP_LIMITS.unreadMaxBytes)
    .optional()
    .describe(
      `memory for outgoing messages at one socket, with --transport zmtp (default: ${ZMTP_LIMITS.unreadMaxBytes.default})`,
    ),
} satisfies z.ZodRawShape;

/** Values of the {@link hubOptions}. */
export type HubSettings = z.output<z.ZodObject<typeof hubOptions>>;

/** See {@link hubTransport}. */
export interface Hub {
  readonly transport: Transport;
  readonly memory: MemoryBudget;
  /** Applies the settings that need no restart and returns their names. Existing sockets keep the other settings. */
  readonly reload: (settings: HubSettings) => readonly (keyof HubSettings)[];
}

/** Options that only zmtp has, by key, with their flags. */
const ZMTP_ONLY = {
  pollUs: '--poll-us',
  connectionsMax: '--connections-max',
  connectionsPerAddressMax: '--connections-per-address-max',
  handshakesMax: '--handshakes-max',
  unfinishedMaxBytes: '--unfinished-max-bytes',
  unreadMaxBytes: '--unread-max-bytes',
} satisfies Partial<Record<keyof HubSettings, string>>;

/**
 * The sockets, clock and randomness of this process, with its memory budget and the command's encryption. Logs when memory becomes short and
 * when there is room again. Throws `OPTIONS_INVALID` for zmtp options with libzmq.
 */
export function hubTransport(settings: HubSettings, log: Logger): Hub {
  const memory = new MemoryBudget(settings.memoryMax ?? halfOfMemory());
  memory.onChange((level) => {
    const { heldBytes, maxBytes, relievedBytes } = memory.stats();
    const text = { ok: 'memory: there is room again', tight: 'memory is short', full: 'memory is full' }[level];
    logOfPeer(log, level === 'ok' ? 'info' : 'warn', { heldBytes, maxBytes, relievedBytes }, text, `memory ${level}`);
  });
  new Collector(memory);
  const reload = ({ memoryMax = halfOfMemory() }: HubSettings): readonly (keyof HubSettings)[] => {
    memory.resize(memoryMax);
    return ['memoryMax'];
  };
  return { transport: encrypted(socketsOf(settings, memory), settings.transport), memory, reload };
}

function socketsOf(settings: HubSettings, memory: MemoryBudget): Transport {
  const names = Object.keys(ZMTP_ONLY) as (keyof typeof ZMTP_ONLY)[];
  const given = names.filter((name) => settings[name] !== undefined);
  if (settings.transport === 'zmtp') {
    const limits = Object.fromEntries(given.map((name) => [name, settings[name]]));
    return new ZmtpTransport({ ...limits, memory, mapsBodies: true });
  }
  const [misplaced] = given;
  if (misplaced === undefined) return zmqTransport({ memory });
  throw new ProjError(
    'OPTIONS_INVALID',
    `${ZMTP_ONLY[misplaced]}: needs --transport zmtp, because libzmq has no such limit`,
  );
}

/** Half the memory of the machine, or of its cgroup. */
export function halfOfMemory(available = totalmem(), constrained = process.constrainedMemory()): number {
  const bytes = constrained > 0 ? Math.min(available, constrained) : available;
  return Math.max(MEMORY_MIN_BYTES, Math.floor(bytes / 2));
}
