/** NFP, the protocol of NORFAB, in proj-broker. */
import {
  bindEndpoint,
  bytes,
  followedKeys,
  fromSchema,
  milliseconds,
  oneOf,
  onOff,
  processCurve,
  text,
  wholeNumber,
  withinSchema,
  wordFromSchema,
} from '@proj/appkit';
import type { Logger } from '@proj/appkit';
import { NfpBroker, nfpBrokerOptions } from '@proj/broker/nfp';
import type { NfpBrokerOptions } from '@proj/broker/nfp';
import { ProjError } from '@proj/transport';
import * as z from 'zod';
import type { FollowedInventory } from '../inventory/follow.js';
import type { LoadedInventory, Seen } from '../inventory/load.js';
import { ownSettings } from '../protocol.js';
import type { Protocol, SharedSettings } from '../protocol.js';
import { logEvents, WORKER_NOTICES } from './log-events.js';
import { shownOf } from './shown.js';

/** The limits and defaults of the broker. */
const { shape } = nfpBrokerOptions;

const QUEUES = { known: 'known', on: true, off: false } as const;

/** How often the files of an inventory are checked. */
const INVENTORY_MS = 2000;

const options = z.strictObject({
  nfp: bindEndpoint().optional().describe('ROUTER for NORFAB clients and workers (default: that of --mdp, shared)'),
  nfpEvents: bindEndpoint().optional().describe('PUB for what workers report about their jobs, by service/uuid'),
  nfpSubscriberQueueMax: fromSchema(shape.subscriberQueueMax, wholeNumber).describe(
    'events that may wait for one subscriber; it misses any beyond that',
  ),
  nfpDialect: wordFromSchema(shape.dialect).describe(
    'header of sent messages: current for NORFAB 0.15.0 and later, legacy for clients up to 0.14.0',
  ),
  nfpQueueForService: oneOf(['known', 'on', 'off'])
    .default('known')
    .describe(
      'let jobs wait up to --request-ttl-ms for services and workers that were connected recently (known), or for any name (on)',
    ),
  nfpSettleMs: fromSchema(shape.settleMs, milliseconds).describe(
    'how long after the start a job for all workers waits for workers that are reconnecting (default: 2 x --heartbeat-ms)',
  ),
  nfpReturnMs: fromSchema(shape.returnMs, milliseconds).describe(
    'how long jobs wait for a lost worker before another one gets them or their clients are notified',
  ),
  nfpMaxAttempts: fromSchema(shape.maxAttempts, wholeNumber).describe(
    'how often a job for any worker is given to another one because its worker was lost',
  ),
  nfpRedispatchAny: fromSchema(shape.redispatchAny, onOff).describe(
    'give a job for any worker to another one if its worker is lost and does not return',
  ),
  nfpManagementCommands: fromSchema(shape.managementCommands, onOff).describe(
    'let anyone restart and stop this broker, and disconnect workers',
  ),
  nfpManagementAuthorizedKeys: text('PATH', 'a folder of .key files or a file of keys')
    .optional()
    .describe('clients that may connect to --nfp-management, with --curve-secret-key (default: as --authorized-keys)'),
  nfpManagement: bindEndpoint()
    .optional()
    .describe(
      'second ROUTER, for mmi.service.broker only; anyone who reaches it can run the management commands (default: none)',
    ),
  inventory: text('FILE', 'a file name')
    .optional()
    .describe("NORFAB's inventory.yaml, for workers that ask for their part; reloaded when it changes (default: none)"),
  inventoryTemplates: onOff()
    .default(true)
    .describe('render the inventory and the files it names as Jinja2, in a sandbox, as NORFAB does'),
  files: text('DIR', 'a folder')
    .optional()
    .describe('folder whose files anyone may fetch by nf:// URLs; nothing outside it is served (default: none)'),
  nfpRequestQueueMax: fromSchema(shape.requestQueueMax, wholeNumber).describe('jobs that may wait'),
  nfpRequestQueueMaxBytes: fromSchema(shape.requestQueueMaxBytes, bytes).describe(
    'memory for jobs that wait or may have to be resent',
  ),
  nfpMaxMessageBytes: fromSchema(shape.maxMessageBytes, bytes).describe(
    'largest message; at an endpoint shared with --mdp, --mdp-max-message-bytes applies',
  ),
});

type Settings = SharedSettings & z.output<typeof options>;

/** The protocol `nfp` of `--only`. */
export const nfp: Protocol<typeof options> = {
  title: 'NORFAB',
  options,
  usual: {
    heartbeatMs: shape.keepaliveIntervalMs.def.defaultValue,
    liveness: shape.keepaliveMultiplier.def.defaultValue,
  },
  // `empty "NFP" ...`, as peers and broker send it.
  claim: ([empty, header]) =>
    empty?.length === 0 && header?.[0] === 0x4e && header[1] === 0x46 && header[2] === 0x50 && header.length === 6,
  async serve(settings, { transport, log, access, onBroken, onEnded, mdpEndpoint }) {
    const seen: Seen = new Map();
    const loaded = settings.inventory === undefined ? undefined : await load(settings.inventory, settings, seen);
    if (loaded !== undefined) logWarnings(loaded, log);
    const { nfp: wanted = loaded?.endpoint ?? mdpEndpoint } = settings;
    const inventory = loaded === undefined ? {} : { inventory: loaded.inventory };
    const broker = new NfpBroker({
      ...brokerOptions(settings),
      ...(await managementCurve(settings, log)),
      ...inventory,
      endpoint: wanted,
      access,
      transport,
    });
    broker.on('broken', onBroken);
    logEvents(broker, WORKER_NOTICES, log);
    const [endpoint = wanted] = await broker.start();
    const [management] = broker.managementEndpoints;
    const [events] = broker.publishEndpoints;
    const followed =
      settings.inventory === undefined
        ? undefined
        : await follow(settings.inventory, settings.inventoryTemplates, seen, broker, log);
    const notRead = inventoryKept(settings.inventory ?? '', log);
    broker.on('management', ({ task, peer }) => {
      log.warn({ peer: Buffer.from(peer.id).toString('hex'), task }, 'management');
      if (task === 'shutdown') onEnded();
      // Files are read only when a peer asks for them.
      if (task === 'restart') void followed?.read().then((apply) => apply(), notRead);
    });
    return {
      endpoints: {
        nfp: endpoint,
        ...(management === undefined ? {} : { nfpManagement: management }),
        ...(events === undefined ? {} : { nfpEvents: events }),
      },
      shown: shownOf(broker, { drainService: (name) => broker.drainService(name) }),
      stats: () => {
        const { services, ...stats } = broker.stats();
        return { ...stats, services: services.length };
      },
      setAccess: (rules) => {
        broker.setAccess(rules);
      },
      ...(followed === undefined ? {} : { readAgain: () => followed.read() }),
      drain: () => {
        followed?.end();
        return broker.drain();
      },
    };
  },
};

/** Reads an inventory. The code that reads it is loaded only now, since most brokers have no inventory. */
async function load(path: string, settings: Settings, seen: Seen): Promise<LoadedInventory> {
  const { loadInventory } = await import('../inventory/load.js');
  return loadInventory(path, process.env, seen, settings.inventoryTemplates);
}

/** Follows the files of an inventory. While they cannot be read, the previous inventory stays in use. */
async function follow(
  path: string,
  templates: boolean,
  seen: Seen,
  broker: NfpBroker,
  log: Logger,
): Promise<FollowedInventory> {
  const { followInventory } = await import('../inventory/follow.js');
  return followInventory({
    path,
    env: process.env,
    templates,
    seen,
    intervalMs: INVENTORY_MS,
    onLoaded: (loaded) => {
      logWarnings(loaded, log);
      broker.setInventory(loaded.inventory);
      log.info({ path }, 'inventory-loaded');
    },
    onFailed: inventoryKept(path, log),
  });
}

/** Logs why the current inventory stays in use. */
function inventoryKept(path: string, log: Logger): (error: unknown) => void {
  return (error) => {
    log.error({ path, reason: error instanceof Error ? error.message : String(error) }, 'inventory-kept');
  };
}

function logWarnings({ warnings }: LoadedInventory, log: Logger): void {
  for (const warning of warnings) log.warn({ warning }, 'inventory-warning');
}

function brokerOptions(settings: Settings): NfpBrokerOptions {
  const { heartbeatMs, liveness, files, requestTtlMs, registrationsPerSecondMax } = settings;
  const { events: publish, management: managementEndpoint, ...others } = ownSettings(settings, 'nfp');
  const { managementAuthorizedKeys: _keys, queueForService, ...own } = others;
  return {
    ...own,
    ...{ files, publish, managementEndpoint, requestTtlMs, registrationsPerSecondMax },
    queueForService: QUEUES[queueForService],
    ...(heartbeatMs === undefined ? {} : { keepaliveIntervalMs: withinSchema(heartbeatMs, shape.keepaliveIntervalMs) }),
    ...(liveness === undefined ? {} : { keepaliveMultiplier: withinSchema(liveness, shape.keepaliveMultiplier) }),
  };
}

/** A separate key list for the management endpoint. */
async function managementCurve(
  { nfpManagementAuthorizedKeys: path }: Settings,
  log: Logger,
): Promise<NfpBrokerOptions> {
  const curve = processCurve();
  if (path === undefined) return {};
  if (curve === undefined)
    throw new ProjError('OPTIONS_INVALID', `--nfp-management-authorized-keys = "${path}": needs --curve-secret-key`);
  return { managementCurve: { keys: curve.keys, authorize: await followedKeys(path, log) } };
}
