/** The public surface: the runtime exports of the entries are a promise, so a change must be deliberate. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const ENTRIES: Record<string, { names: string[]; load: () => Promise<object> }> = {
  '.': {
    names: [
      'EMPTY_FRAME',
      'compact',
      'compactAll',
      'equalBytes',
      'fromLatin1',
      'isServiceName',
      'latin1',
      'printable',
      'slackOf',
      'totalBytes',
    ],
    load: () => import('./index.js'),
  },
  './emqp': {
    names: [
      'decodeEmqpAtAdmin',
      'decodeEmqpAtAdminPort',
      'decodeEmqpAtBroker',
      'decodeEmqpAtClient',
      'decodeEmqpAtPubSub',
      'decodeEmqpAtScheduler',
      'decodeEmqpAtSubscriber',
      'decodeEmqpAtWorker',
      'decodeEmqpHeaders',
      'emqpJobText',
      'emqpTime',
      'encodeEmqp',
      'encodeEmqpHeaders',
      'encodeEmqpJson',
    ],
    load: () => import('./emqp/index.js'),
  },
  './mdp': {
    names: [
      'MMI',
      'decodeMdpAtBroker',
      'decodeMdpAtClient',
      'decodeMdpAtWorker',
      'decodeMmiCount',
      'decodeMmiReply',
      'encodeMdp',
      'encodeMmiListing',
      'encodeMmiReply',
    ],
    load: () => import('./mdp/index.js'),
  },
  './nfp': {
    names: [
      'NfpLogBook',
      'cTime',
      'decodeNfpAtBroker',
      'decodeNfpAtClient',
      'decodeNfpAtWorker',
      'decodeNfpDispatch',
      'decodeNfpJson',
      'decodeNfpOpenInfo',
      'decodeNfpPublishedEvent',
      'decodeNfpTask',
      'encodeNfp',
      'encodeNfpDispatch',
      'encodeNfpJson',
      'encodeNfpPublishedEvent',
      'eventTime',
      'isNfpName',
      'isoTime',
      'nfpBrokerHeader',
      'nfpNameOf',
      'nfpRoutingId',
      'parseNfpTarget',
    ],
    load: () => import('./nfp/index.js'),
  },
  './ppp': {
    names: [
      'decodePppAtClient',
      'decodePppAtFrontend',
      'decodePppAtQueue',
      'decodePppAtWorker',
      'decodePppCorrelation',
      'encodePpp',
      'encodePppCorrelation',
    ],
    load: () => import('./ppp/index.js'),
  },
  './pzq': {
    names: [
      'PZQ_UNUSABLE',
      'decodePzqAtConsumer',
      'decodePzqAtMonitor',
      'decodePzqAtProducer',
      'decodePzqAtReceive',
      'decodePzqAtSend',
      'decodePzqHeaders',
      'decodePzqKey',
      'decodePzqMonitorReply',
      'decodePzqMonitorText',
      'encodePzq',
      'encodePzqHeaders',
      'encodePzqKey',
      'encodePzqMonitorText',
    ],
    load: () => import('./pzq/index.js'),
  },
  './service': {
    names: ['bytesCodec', 'decodeFault', 'defineService', 'encodeFault', 'jsonCodec'],
    load: () => import('./service/index.js'),
  },
};

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  exports: Record<string, unknown>;
  publishConfig: { exports: Record<string, unknown> };
  dependencies?: object;
};

describe('@proj/frames', () => {
  test.each(Object.entries(ENTRIES))('%s exports what it promises', async (_, { names, load }) => {
    expect(Object.keys(await load()).sort()).toEqual(names);
  });

  test('has an entry for each of them, in the workspace and as published, and no other', () => {
    const entries = [...Object.keys(ENTRIES), './package.json'].sort();
    expect(Object.keys(manifest.exports).sort()).toEqual(entries);
    expect(Object.keys(manifest.publishConfig.exports).sort()).toEqual(entries);
  });

  test('depends on nothing', () => {
    expect(manifest.dependencies).toBeUndefined();
  });
});
