/** Presence and time for protocol engines. Pure except for `systemClock`; no dependencies. */
export * from './backoff.js';
export * from './clock.js';
export { DeadlineHeap, HeapDeadline } from './deadline-heap.js';
export { Deadline, DeadlineList } from './deadline-list.js';
export { DeadlineTable } from './deadline-table.js';
export { ExpiringMap } from './expiring-map.js';
export { OncePer, oncePerMinute } from './once-per.js';
