/** NFP "Status Frames": the text's statuses, the only ones sent to peers that write commands as the text does (rule 24). */

/** The worker does not know the job; 400 in the text. */
export const JOB_UNKNOWN = 404;

/** Nothing was heard in time. */
export const REQUEST_TIMEOUT = 408;

const OF_TEXT: ReadonlySet<number> = new Set([200, 202, 300, 400, REQUEST_TIMEOUT, 417, 500]);

/** The text's equivalent: 202 for 201, 300 for 102, 400 for 404; otherwise by the first digit. */
export function statusOfText(status: number): number {
  if (OF_TEXT.has(status)) return status;
  if (status === 201) return 202;
  if (status < 200) return 300;
  return Math.min(Math.floor(status / 100) * 100, 500);
}
