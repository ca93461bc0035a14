/** Finds the source of a function in a bundle: esbuild writes the path of each module above its code. */

/** The module of each line, from the comments in the bundle. */
export function modulesOf(bundle: string): string[] {
  let module = '';
  return bundle.split('\n').map((line) => (module = /^\/\/ (?:\.\.\/)*(\S+\.[cm]?[jt]s)$/.exec(line)?.[1] ?? module));
}

/** Names a place in a file, by its address and its line counted from 0: a module of one of our bundles, or the file itself. */
export function placesIn(bundles: ReadonlyMap<string, readonly string[]>): (url: string, line: number) => string {
  return (url, line) => {
    const module = bundles.get(url)?.[line];
    if (module !== undefined && module !== '') return module.replace(/^node_modules\/\.pnpm\/[^/]+\//, '');
    return url.replace(/^file:.*\//, '');
  };
}
