/** Times in NORFAB's forms; UTC. */

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH_ENDS = [31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
const DAY_MS = 86_400_000;

/** `Fri Nov 20 19:09:47 2026`, as in the C library; UTC. */
export function cTime(wallMs: number): string {
  const { weekday, day, month, year } = dateOf(wallMs);
  return `${weekday} ${month} ${day.toString().padStart(2)} ${clockOf(wallMs)} ${year}`;
}

/** `20-Nov-2026 19:09:45.225`; UTC. */
export function eventTime(wallMs: number): string {
  const { day, month, year } = dateOf(wallMs);
  const fraction = Math.floor(wallMs % 1000);
  return `${two(day)}-${month}-${year} ${clockOf(wallMs)}.${fraction.toString().padStart(3, '0')}`;
}

/** `2026-11-20T19:09:45.225Z` */
export function isoTime(wallMs: number): string {
  const { year, monthNumber, day } = dateOf(wallMs);
  const fraction = Math.floor(wallMs % 1000);
  return `${year}-${two(monthNumber)}-${two(day)}T${clockOf(wallMs)}.${fraction.toString().padStart(3, '0')}Z`;
}

function clockOf(wallMs: number): string {
  const seconds = Math.floor((wallMs % DAY_MS) / 1000);
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** The Gregorian calendar from 1970 on, because pure files must not use JavaScript's dates. */
function dateOf(wallMs: number) {
  const days = Math.floor(wallMs / DAY_MS);
  let year = 1970;
  let rest = days;
  for (let length = lengthOf(year); rest >= length; length = lengthOf(year)) {
    rest -= length;
    year++;
  }
  const leap = lengthOf(year) - 365;
  const ends = MONTH_ENDS.map((end, index) => (index === 0 ? end : end + leap));
  const month = ends.findIndex((end) => rest < end);
  const day = rest - (month === 0 ? 0 : (ends[month - 1] as number)) + 1;
  const [weekday, name] = [DAYS[(days + 4) % 7] as string, MONTHS[month] as string];
  return { weekday, day, month: name, monthNumber: month + 1, year };
}

function lengthOf(year: number): number {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 366 : 365;
}

function two(value: number): string {
  return value.toString().padStart(2, '0');
}
