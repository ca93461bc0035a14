/** The sections, by name. */
import { measureBrokers } from './brokers.js';
import { measureChains } from './chain/measure.js';
import { measureEmqpRates } from './emqp-rates.js';
import { measureIdle } from './idle.js';
import { measureMdpEngine } from './mdp-engine.js';
import { CONTESTS, measureContest, measureGrowth } from './middle.js';
import { measureNfpBroadcasts } from './nfp-engine.js';
import { measureNfpResults } from './nfp-results.js';
import { measureObserve } from './observe.js';
import { measurePzqRates } from './pzq-rates.js';
import { measurePzqRivals } from './pzq-rivals.js';
import { measurePzqStores } from './pzq-store.js';
import { measureProfiles } from './profile/measure.js';
import { measureBrokerCrowds, measureBrokerLoads } from './scale/broker.js';
import { measureEngineScale } from './scale/engine.js';
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

/** By name, in the order in which they are measured. */
export const SECTIONS: Readonly<Record<string, Section>> = {
  broker: measureBrokers,
  chain: measureChains,
  'pzq-rivals': measurePzqRivals,
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
  observe: measureObserve,
  mdp: async (report) => {
    measureMdpEngine(report);
    await measureContest(CONTESTS.mdp, report, { atMost: 1.25 });
    await measureGrowth(CONTESTS.mdp, report);
  },
  emqp: async (report) => {
    await measureEmqpRates(report);
    await measureContest(CONTESTS.emqp, report, { atMost: 1.5 });
  },
  nfp: async (report) => {
    measureNfpBroadcasts(report);
    await measureContest(CONTESTS.nfp, report, { atMost: 1.5 });
  },
  'nfp-results': measureNfpResults,
  ppp: (report) => measureContest(CONTESTS.ppp, report, { atMost: 1.25 }),
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
  scale: ['scale-engine', 'scale-crowds', 'scale-loads'],
};
