import { describe, expect, it } from 'vitest';
import { checkImports, RULE_NAMES } from './imports.js';
import { PACKAGES, sourceFiles } from './workspace.js';

/** Rule, file, offending text. */
const FORBIDDEN: readonly (readonly [string, string, string])[] = [
  ['public-entries-only', 'packages/broker/src/mdp/broker.ts', "import { latin1 } from '@proj/frames/src/bytes.js';"],
  ['public-entries-only', 'apps/broker/src/main.ts', "import { MdpBroker } from '@proj/broker/dist/index.js';"],
  ['public-entries-only', 'packages/worker/src/mdp/worker.ts', "import { x } from '../../../client/src/index.js';"],
  ['protocols-apart', 'packages/broker/src/nfp/engine/engine.ts', "import { x } from '../../mdp/engine/engine.js';"],
  ['protocols-apart', 'packages/transport/src/virtual/index.ts', "export { x } from '../zmq/port.js';"],
  ['codecs-import-nothing', 'packages/frames/src/mdp/decode.ts', "import type { Clock } from '@proj/heartbeat';"],
  ['codecs-import-nothing', 'packages/frames/src/bytes.ts', "import { Buffer } from 'node:buffer';"],
  ['heartbeat-imports-nothing', 'packages/heartbeat/src/clock.ts', "import { performance } from 'node:perf_hooks';"],
  ['transport-below-roles', 'packages/transport/src/driver.ts', "import { decodePppAtQueue } from '@proj/frames/ppp';"],
  ['transport-below-roles', 'packages/transport/src/driver.ts', "import { Router } from 'zeromq';"],
  ['transport-below-roles', 'packages/transport/src/virtual/network.ts', "import { randomUUID } from 'node:crypto';"],
  ['transport-below-roles', 'packages/transport/src/options.ts', "import * as z from 'zod';"],
  [
    'transport-below-roles',
    'packages/transport/src/service/handler-run.ts',
    "import { createHash } from 'node:crypto';",
  ],
  ['transport-below-roles', 'packages/transport/src/tracing/tracing.ts', "import * as api from '@opentelemetry/api';"],
  ['facades-no-other-packages', 'packages/client/src/mdp/client.ts', "import type { Span } from '@opentelemetry/api';"],
  ['zmtp-without-addons', 'packages/zmtp/src/port.ts', "import { Router } from 'zeromq';"],
  ['files-below-roles', 'packages/files/src/files.ts', "import * as z from 'zod';"],
  ['files-below-roles', 'packages/files/src/files.ts', "import { zmqTransport } from '@proj/transport/zmq';"],
  ['engines-are-pure', 'packages/broker/src/nfp/engine/engine.ts', "import { Files } from '@proj/files';"],
  ['observe-above-facades', 'packages/observe/src/observe.ts', "import { MdpBroker } from '@proj/broker';"],
  ['store-below-roles', 'packages/store/src/records.ts', "import { Backoff } from '@proj/heartbeat';"],
  ['store-below-roles', 'packages/store/src/folder/room.ts', "import { LmdbStore } from '@proj/pzq';"],
  ['engines-are-pure', 'packages/zmtp/src/engine/framing/reader.ts', "import type { Socket } from 'node:net';"],
  ['engines-are-pure', 'packages/broker/src/mdp/engine/engine.ts', "import { Driver } from '@proj/transport';"],
  ['engines-are-pure', 'packages/client/src/mdp/engine/session.ts', "const os = await import('node:os');"],
  ['engines-are-pure', 'packages/broker/src/shared/lru.ts', "import { z } from 'zod';"],
  ['engines-are-pure', 'packages/broker/src/shared/lru.ts', "import { failures } from '@proj/observe/model';"],
  ['engines-are-pure', 'packages/dashboard/src/shared/peers.ts', "import { observe } from '@proj/observe';"],
  ['model-imports-nothing', 'packages/observe/src/model.ts', "import { EMPTY } from './histograms.js';"],
  ['engines-are-pure', 'packages/broker/src/mdp/engine/engine.ts', "const lib = require('zeromq');"],
  ['options-only-zod', 'packages/worker/src/mdp/options.ts', "import { Backoff } from '@proj/heartbeat';"],
  ['stores-only-database', 'packages/pzq/src/store/lmdb.ts', "import { x } from '../engine.js';"],
  ['stores-only-database', 'packages/pzq/src/store/lmdb.ts', "import type { PzqKey } from '@proj/frames/pzq';"],
  ['stores-only-database', 'packages/pzq/src/store/lmdb.ts', "import { lmdbRecords } from '@proj/store';"],
  ['facades-no-other-packages', 'packages/client/src/mdp/client.ts', "import { MdpBroker } from '@proj/broker';"],
  ['facades-no-other-packages', 'packages/client/src/mdp/client.ts', "import * as z from 'zod';"],
  ['facades-no-other-packages', 'packages/scheduler/src/scheduler.ts', "import { Cron } from 'croner';"],
  ['facades-no-other-packages', 'packages/client/src/nfp/client.ts', "import { Files } from '@proj/files';"],
];

const ALLOWED: readonly (readonly [string, string])[] = [
  [
    'packages/broker/src/mdp/engine/engine.ts',
    "import type { Engine } from '@proj/transport'; import { x } from '../../shared/lru.js';",
  ],
  [
    'packages/broker/src/mdp/engine/engine.ts',
    "import { latin1 } from '@proj/frames'; import { Backoff } from '@proj/heartbeat';",
  ],
  ['packages/broker/src/mdp/options.ts', "import * as z from 'zod'; import type { X } from './engine.js';"],
  ['packages/broker/src/options.ts', "import { milliseconds } from '@proj/transport/schemas';"],
  [
    'packages/client/src/options.ts',
    "import { integer } from '@proj/transport/peer-schemas'; import * as z from 'zod/mini';",
  ],
  [
    'packages/broker/src/mdp/broker.ts',
    "import { Driver } from '@proj/transport'; await import('@proj/transport/zmq');",
  ],
  ['packages/transport/src/zmq/port.ts', "import { Router } from 'zeromq'; import { randomUUID } from 'node:crypto';"],
  [
    'packages/zmtp/src/connection.ts',
    "import { connect } from 'node:net'; import { Fifo } from '@proj/transport/adapter';",
  ],
  ['packages/transport/src/driver.ts', "import type { Malformed } from '@proj/frames';"],
  ['packages/transport/src/tracing/tracing.ts', "import { tracingChannel } from 'node:diagnostics_channel';"],
  ['packages/transport/src/service/handler-run.ts', "import { totalBytes } from '@proj/frames';"],
  ['packages/pzq/src/store/lmdb.ts', "import { ProjError } from '@proj/transport'; await import('lmdb');"],
  ['packages/pzq/src/store/lmdb.ts', "import { LmdbFolder } from '@proj/store/lmdb-folder';"],
  ['packages/store/src/records.ts', "import { ProjError } from '@proj/transport'; await import('lmdb');"],
  ['packages/broker/src/nfp/broker.ts', "import { Files } from '@proj/files';"],
  [
    'packages/files/src/files.ts',
    "import { ProjError } from '@proj/transport'; import { open } from 'node:fs/promises';",
  ],
  ['packages/scheduler/src/cron.ts', "import { Cron } from 'croner';"],
  ['apps/broker/src/main.ts', "import { MdpBroker } from '@proj/broker'; import pino from 'pino';"],
];

describe('import rules', () => {
  it.each(FORBIDDEN)('%s: %s refuses %s', (rule, path, text) => {
    expect(checkImports([{ path, text }])).toContainEqual(expect.objectContaining({ rule, path, line: 1 }));
  });

  it.each(ALLOWED)('%s may say %s', (path, text) => {
    expect(checkImports([{ path, text }])).toEqual([]);
  });

  it('each rule can fail', () => {
    expect(new Set(FORBIDDEN.map(([rule]) => rule))).toEqual(new Set(RULE_NAMES));
  });

  it('what an engine needs at run time must follow the rules for engines', () => {
    const engine = { path: 'packages/broker/src/mdp/engine/engine.ts', text: "import { x } from '../service.js';" };
    const helper = { path: 'packages/broker/src/mdp/service.ts', text: "import { hostname } from 'node:os';" };
    expect(checkImports([helper])).toEqual([]);
    expect(checkImports([engine, helper])).toEqual([
      expect.objectContaining({ rule: 'engines-are-pure', path: helper.path }),
    ]);
  });

  it.each(PACKAGES.map(({ dir }) => dir))('%s follows the rules', (dir) => {
    const violations = checkImports(sourceFiles(dir));
    expect(violations.map((v) => `${v.rule}: ${v.path}:${v.line} imports ${v.specifier} (${v.reason})`)).toEqual([]);
  });
});
