/** Types of entries.mjs, for the builds. */
export function entriesOf(
  folder: string,
): { readonly specifier: string; readonly name: string; readonly source: string }[];
