/**
 * The contract of every `SocketPort` and `RecordStore`, as cases for any test runner. A facade works on whatever passes.
 *
 * ```ts
 * for (const { name, applies, run } of portCompliance(subject)) it.runIf(applies)(name, run);
 * ```
 */
import { CONGESTION, CONGESTION_END } from './congestion.js';
import { CURVE, CurveRig } from './curve.js';
import type { CurveSubject } from './curve.js';
import { DEALING } from './dealing.js';
import { DELIVERY } from './delivery.js';
import { DEPARTURES, LIFECYCLE } from './lifecycle.js';
import { PUBSUB } from './pubsub.js';
import { PubSubRig } from './pubsub-rig.js';
import { PortRig } from './rig.js';
import type { PortCapabilities, PortSubject } from './rig.js';
import type { SocketSubject } from './socket-rig.js';
import { bindCases } from './suite.js';
import type { Cases, ComplianceCase } from './suite.js';

export type { CurveSubject } from './curve.js';
export * from './records.js';
export type { PortCapabilities, PortSubject } from './rig.js';
export type { SocketSubject as PubSubSubject } from './socket-rig.js';
export type { ComplianceCase } from './suite.js';

/** The cases for one implementation of `SocketPort`. Each opens and closes its own sockets. */
export function portCompliance(subject: PortSubject): readonly ComplianceCase[] {
  const { capabilities } = subject;
  const bind = (cases: Cases<PortRig>, applies?: boolean) => bindCases(() => new PortRig(subject), cases, applies);
  const departures = Object.entries(DEPARTURES) as [keyof PortCapabilities, Cases<PortRig>][];
  return [
    ...[DELIVERY, CONGESTION, DEALING, LIFECYCLE].flatMap((cases) => bind(cases)),
    ...bind(CONGESTION_END, capabilities.peerGone),
    ...departures.flatMap(([needs, cases]) => bind(cases, capabilities[needs])),
  ];
}

/** The cases for one implementation of `PublisherPort` and `SubscriberPort`. Each opens and closes its own sockets. */
export function pubSubCompliance(subject: SocketSubject): readonly ComplianceCase[] {
  return bindCases(() => new PubSubRig(subject), PUBSUB);
}

/** The cases for one implementation of `PortOptions.curve`. Each opens and closes its own sockets. */
export function curveCompliance(subject: CurveSubject): readonly ComplianceCase[] {
  return bindCases(() => new CurveRig(subject), CURVE);
}
