/** The sections, by name. */
import { measureBrokers } from './brokers.js';
import { measureChains } from './chain/measure.js';
import { CONTESTS } from './contests/index.js';
import type { Protocol } from './contests/index.js';
import { measureEmqpRates } from './emqp-rates.js';
import { measureEngines } from './engines/measure.js';
import { measureIdle } from './idle.js';
import { measureMdpEngine } from './mdp-engine.js';
import { measureContest, measureGrowth } from './middle.js';
import { measureNfpBroadcasts } from './nfp-engine.js';
import { measureNfpResults } from './nfp-results.js';
import { measureObserve } from './observe.js';
import { measurePzqRates } from './pzq-rates.js';
import { measurePzqRivals } from './pzq-rivals.js';
import { measurePzqStores } from './pzq-store.js';
import { measureProfiles } from './profile/measure.js';
import { measureBrokerCrowds, measureBrokerLoads } from './scale/broker.js';
import { measureEngineScale } from './scale/engine.js';
import { measureSieges } from './sieges.js';
import { measureSteps } from './steps.js';
import type { Report, Skip } from './statistics.js';
import { measureZmtpBodies } from './zmtp-bodies.js';
import { measureZmtpBoxes } from './zmtp-boxes.js';
import { measureZmtpFast } from './zmtp-fast.js';
import { measureZmtpIdle } from './zmtp-idle.js';
import { measureZmtpTurns } from './zmtp-turns.js';

/** Receives a drawing that is not a plot of findings, and its file name. */
export type Draw = (file: string, svg: string) => void;

/** Measures and reports. */
export type Section = (report: Report, skip: Skip, draw: Draw) => Promise<void>;

const contests = Object.fromEntries(
  Object.keys(CONTESTS).map((name): [string, Section] => [name, (report) => measureContest(name as Protocol, report)]),
);

/** By name, in the order in which they are measured. */
export const SECTIONS: Readonly<Record<string, Section>> = {
  broker: measureBrokers,
  chain: measureChains,
  'pzq-rivals': measurePzqRivals,
  engines: measureEngines,
  'scale-engine': measureEngineScale,
  'scale-crowds': measureBrokerCrowds,
  'scale-loads': measureBrokerLoads,
  'zmtp-boxes': measureZmtpBoxes,
  'zmtp-fast': measureZmtpFast,
  'zmtp-turns': measureZmtpTurns,
  zmtp: async (report) => {
    await measureZmtpBodies(report);
    await measureZmtpIdle(report);
  },
  idle: measureIdle,
  'observe-cost': measureObserve,
  'observe-attacked': measureSieges,
  ...contests,
  mdp: async (report) => {
    measureMdpEngine(report);
    await measureContest('mdp', report);
    await measureGrowth('mdp', report);
  },
  emqp: async (report) => {
    await measureEmqpRates(report);
    await measureContest('emqp', report);
  },
  nfp: async (report) => {
    measureNfpBroadcasts(report);
    await measureContest('nfp', report);
  },
  'nfp-results': measureNfpResults,
  pzq: measurePzqRates,
  'pzq-store': measurePzqStores,
  steps: async (report) => {
    await Promise.resolve();
    measureSteps(report);
  },
  profile: measureProfiles,
};

/** Names of groups of sections. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  observe: ['observe-cost', 'observe-attacked'],
  scale: ['scale-engine', 'scale-crowds', 'scale-loads'],
};
