/**
 * Which tricks of this folder are on. `PROJ_ZMTP_PLAIN=1` turns all of them off; a list of names, such as `reading,polling`, turns off only
 * those, so that `npm run bench -- zmtp-fast` can show what each saves. Read once, at load.
 */
import { ProjError } from '@proj/transport';

const TRICKS = ['spares', 'reading', 'writing', 'polling', 'sodium'] as const;

/** One optimization. */
export type Trick = (typeof TRICKS)[number];

const OFF = parse(process.env['PROJ_ZMTP_PLAIN'] ?? '');

/** True unless the switch turns this trick off. */
export function isOn(trick: Trick): boolean {
  return !OFF.has(trick);
}

/** The tricks that this value of PROJ_ZMTP_PLAIN turns off. Throws `OPTIONS_INVALID`. */
export function parse(value: string): ReadonlySet<string> {
  if (value === '1') return new Set(TRICKS);
  const names = value.split(',').filter((name) => name !== '' && name !== '0');
  const unknown = names.find((name) => !(TRICKS as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new ProjError('OPTIONS_INVALID', `PROJ_ZMTP_PLAIN=${value}: must be 1, 0 or a list of ${TRICKS.join(', ')}`);
  return new Set(names);
}
