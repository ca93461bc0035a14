/** NFP "Status Frames": those of the text, which alone reach peers of its form (rule 24), and what releases of the program say instead. */

/** A worker does not know the job; 400 in the text. */
export const JOB_UNKNOWN = 404;

/** Nothing was heard in time. */
export const REQUEST_TIMEOUT = 408;

const OF_TEXT: ReadonlySet<number> = new Set([200, 202, 300, 400, REQUEST_TIMEOUT, 417, 500]);

/** What the text has for it: 202 for 201, 300 for 102, 400 for 404, of anything else what its first digit says. */
export function statusOfText(status: number): number {
  if (OF_TEXT.has(status)) return status;
  if (status === 201) return 202;
  if (status < 200) return 300;
  return Math.min(Math.floor(status / 100) * 100, 500);
}
