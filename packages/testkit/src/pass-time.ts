/** Time for engines under test: it stands still until a test advances it. */

/** Keeps an engine's time and delivers its events. */
interface Rig<Result> {
  now: number;
  step(event: { readonly kind: 'timer'; readonly lateMs: number }): Result;
}

/**
 * Advances time by `ms`, delivering each deadline `lateMs` after it is due. Returns the time and result of each step, in order. Throws if a step
 * does not move the deadline: a driver would loop for ever.
 */
export function passTime<Result>(
  rig: Rig<Result>,
  engine: { readonly deadline: number },
  ms: number,
  lateMs = 0,
): [now: number, result: Result][] {
  const until = rig.now + ms;
  const results: [number, Result][] = [];
  while (engine.deadline + lateMs <= until) {
    const due = engine.deadline;
    rig.now = Math.max(rig.now, due + lateMs);
    results.push([rig.now, rig.step({ kind: 'timer', lateMs: rig.now - due })]);
    if (engine.deadline <= due) throw new Error(`a timer step left the deadline at ${due}`);
  }
  rig.now = until;
  return results;
}
