/** The page of a row that does not exist: it has left or never was. Shows the row again when it returns. */
import type { VNode } from 'preact';
import { Heading, To } from '../parts/bits.js';
import { splitKey } from '../shared/routes.js';

/** Says so, with a link to the list. */
export function Gone({ what, id, list }: { what: string; id: string; list: string }): VNode {
  const [, name] = splitKey(id);
  return (
    <>
      <Heading title={name === '' ? id : name} above={<To path={[list]}>All {list}</To>} />
      <p class="none" role="status">
        This {what} is not connected. It appears here as soon as it returns.
      </p>
    </>
  );
}
