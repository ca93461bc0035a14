/** Figures as text: short, with units, of equal width in columns. */

const GROUPED = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `12,345`; rounded to whole units. */
export function count(value: number): string {
  return GROUPED.format(value);
}

/** `999`, `12.3k`, `4.56M`: at most three digits. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size < 1000) return count(value);
  for (const [limit, unit] of [
    [1e6, 'k'],
    [1e9, 'M'],
  ] as const)
    // A value that would round up to four digits belongs to the next unit.
    if (size < limit * 0.9995) return `${threeDigits((value / limit) * 1000)}${unit}`;
  return `${threeDigits(value / 1e9)}G`;
}

/** Per second: `0`, `0.25`, `3.1`, `1,204`. */
export function rate(value: number): string {
  if (value === 0) return '0';
  if (value < 1) return value.toFixed(2);
  return value < 100 ? value.toFixed(1) : count(value);
}

/** A duration in milliseconds: `0.4 ms`, `12 ms`, `1.5 s`, `3 min`, `2 h`, `5 d`. */
export function duration(ms: number): string {
  if (ms < 0.05) return '0 ms';
  if (ms < 9.95) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${ms.toFixed(0)} ms`;
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 99_500) return `${(ms / 1000).toFixed(0)} s`;
  if (ms < 99.5 * 60_000) return `${(ms / 60_000).toFixed(0)} min`;
  if (ms < 47.5 * 3_600_000) return `${(ms / 3_600_000).toFixed(0)} h`;
  return `${(ms / 86_400_000).toFixed(0)} d`;
}

/** How long ago, at least in whole seconds: `now`, `7 s ago`. */
export function ago(at: number, now: number): string {
  const ms = now - at;
  if (ms < 1000) return 'now';
  return `${wholeSeconds(ms)} ago`;
}

/** How long until: `in 7 s`, or `now`. */
export function until(at: number, now: number): string {
  return at - now < 1000 ? 'now' : `in ${wholeSeconds(at - now)}`;
}

/** How long it has lasted, at least in whole seconds: `7 s`. */
export function wholeSeconds(ms: number): string {
  return ms < 9950 ? `${Math.max(0, Math.floor(ms / 1000))} s` : duration(ms);
}

/** `512 B`, `1.5 KiB`, `2.00 GiB`: at most three digits. */
export function bytes(value: number): string {
  let size = value;
  let unit = 0;
  while (size >= 999.5 && unit < BYTE_UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? count(size) : threeDigits(size)} ${BYTE_UNITS[unit] ?? ''}`;
}

/** A share from 0 to 1 as `42 %`. */
export function percent(share: number): string {
  const value = share * 100;
  return `${value > 0 && value < 9.95 ? value.toFixed(1) : value.toFixed(0)} %`;
}

/** Time of day in the viewer's time zone: `14:03:59`. */
export function clockTime(at: number): string {
  return new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(at);
}

/** A name such as `job-accepted` or `framesRead`, in words: `job accepted`, `frames read`. */
export function words(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[-_]/g, ' ')
    .toLowerCase();
}

function threeDigits(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}
