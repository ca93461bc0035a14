/** Time for engines under test: it stands still until a test lets it pass. */

/** Keeps the time of an engine and hands it its events. */
interface Rig<Result> {
  now: number;
  step(event: { readonly kind: 'timer'; readonly lateMs: number }): Result;
}

/**
 * Lets `ms` pass, each deadline on the way delivered `lateMs` after it is due. Returns each step's time and what it returned, in
 * order. Throws when one of them leaves the deadline where it was: a driver would call for ever.
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
