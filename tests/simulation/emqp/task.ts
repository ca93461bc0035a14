/** What a job asks of the process it runs in. */
export interface Task {
  /** How long a run takes. Virtual milliseconds. */
  readonly ms: number;
  /** How many runs fail before one succeeds. */
  readonly failing: number;
  /** `hangs`: until it is killed. `dies`: together with its process. */
  readonly end: 'well' | 'hangs' | 'dies';
}
