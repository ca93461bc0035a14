/** The public surface: the runtime exports of the entries are a promise, so a change must be deliberate. */
import { readFileSync } from 'node:fs';
import { expect, it, test } from 'vitest';

const ENTRIES: Record<string, { names: string[]; load: () => Promise<object> }> = {
  '.': {
    names: [
      'EmqpBroker',
      'EmqpBrokerEngine',
      'EmqpPubSub',
      'MdpBroker',
      'MdpBrokerEngine',
      'MdpPool',
      'MdpPoolEngine',
      'NfpBroker',
      'NfpBrokerEngine',
      'PppPool',
      'PppPoolEngine',
      'PppQueue',
      'PppQueueEngine',
      'ProjError',
      'accessOptions',
      'defineService',
      'isProjError',
    ],
    load: () => import('./index.js'),
  },
  './emqp': {
    names: [
      'EmqpBroker',
      'EmqpBrokerEngine',
      'EmqpPubSub',
      'EmqpPubSubEngine',
      'emqpBrokerOptions',
      'emqpPubSubOptions',
    ],
    load: () => import('./emqp/index.js'),
  },
  './mdp': {
    names: ['MdpBroker', 'MdpBrokerEngine', 'MdpPool', 'MdpPoolEngine', 'mdpBrokerOptions'],
    load: () => import('./mdp/index.js'),
  },
  './nfp': { names: ['NfpBroker', 'NfpBrokerEngine', 'nfpBrokerOptions'], load: () => import('./nfp/index.js') },
  './ppp': {
    names: ['PppPool', 'PppPoolEngine', 'PppQueue', 'PppQueueEngine', 'pppPoolOptions', 'pppQueueOptions'],
    load: () => import('./ppp/index.js'),
  },
};

/** With more names than this, types included, users no longer find the ones they need. */
const ROOT_NAMES_MAX = 35;

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const manifest = JSON.parse(read('../package.json')) as {
  exports: Record<string, unknown>;
  publishConfig: { exports: Record<string, unknown> };
};

test.each(Object.entries(ENTRIES))('%s exports what it promises', async (_, { names, load }) => {
  expect(Object.keys(await load()).sort()).toEqual(names);
});

it('has an entry for each of them, in the workspace and as published, and no other', () => {
  const entries = [...Object.keys(ENTRIES), './package.json'].sort();
  expect(Object.keys(manifest.exports).sort()).toEqual(entries);
  expect(Object.keys(manifest.publishConfig.exports).sort()).toEqual(entries);
});

it('keeps its root short', () => {
  const names = [...read('./index.ts').matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = '']) =>
    list.split(',').filter((name) => name.trim() !== ''),
  );
  expect(names.length).toBeGreaterThan(7);
  expect(names.length).toBeLessThanOrEqual(ROOT_NAMES_MAX);
});
