/**
 * The contract of every `SocketPort` and `RecordStore`, as cases for any test runner. A facade works on whatever passes.
 *
 * ```ts
 * for (const { name, applies, run } of portCompliance(subject)) it.runIf(applies)(name, run);
 * ```
 */
import { CONGESTION } from './congestion.js';
import { bindCurveCase, CURVE } from './curve.js';
import type { CurveSubject } from './curve.js';
import { DEALING } from './dealing.js';
import { DELIVERY } from './delivery.js';
import { LIFECYCLE } from './lifecycle.js';
import { PUBSUB } from './pubsub.js';
import { bindPubSubCase } from './pubsub-suite.js';
import type { PubSubSubject } from './pubsub-suite.js';
import type { PortSubject } from './rig.js';
import { bindCase } from './suite.js';
import type { ComplianceCase } from './suite.js';

export type { CurveSubject } from './curve.js';
export type { PubSubSubject } from './pubsub-suite.js';
export { recordsCompliance, writeRecordsUntilKilled } from './records.js';
export type { RecordsCapabilities, RecordsPlace, RecordsSubject } from './records.js';
export type { PortCapabilities, PortSubject } from './rig.js';
export type { ComplianceCase } from './suite.js';

/** The cases for one implementation of `SocketPort`. Each opens and closes its own sockets. */
export function portCompliance(subject: PortSubject): readonly ComplianceCase[] {
  return [...DELIVERY, ...CONGESTION, ...DEALING, ...LIFECYCLE].map((definition) => bindCase(definition, subject));
}

/** The cases for one implementation of `PublisherPort` and `SubscriberPort`. Each opens and closes its own sockets. */
export function pubSubCompliance(subject: PubSubSubject): readonly ComplianceCase[] {
  return PUBSUB.map((definition) => bindPubSubCase(definition, subject));
}

/** The cases for one implementation of `PortOptions.curve`. Each opens and closes its own sockets. */
export function curveCompliance(subject: CurveSubject): readonly ComplianceCase[] {
  return CURVE.map((definition) => bindCurveCase(definition, subject));
}
