/** The link of each view, such as `#/workers/mdp/ID?q=text&sort=-rate`: reading and writing. */

/** Where the page is. */
export interface Route {
  /** The path's parts, decoded: `['workers', 'mdp', 'ID']`. Empty for the overview. */
  readonly path: readonly string[];
  /** Search, sort and filters of the view. */
  readonly query: Readonly<Record<string, string>>;
}

/** The route of a hash. Parts that cannot be decoded stay as they are. */
export function parseHash(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s);
  return {
    path: path.split('/').filter(Boolean).map(decode),
    query: Object.fromEntries([...pairs(query)]),
  };
}

/** The link to a view, without empty values in the query. */
export function href(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const said = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const tail = said.map(([key, value]) => `${encode(key)}=${encode(value ?? '')}`).join('&');
  return `#/${path.map(encode).join('/')}${tail === '' ? '' : `?${tail}`}`;
}

/** The two parts of a key such as `mdp/NAME`; the name may contain slashes. */
export function splitKey(key: string): readonly [protocol: string, name: string] {
  const slash = key.indexOf('/');
  return slash < 0 ? [key, ''] : [key.slice(0, slash), key.slice(slash + 1)];
}

/** The key of a row from the rest of a path: `['mdp', 'a', 'b']` is `mdp/a/b`. */
export function keyOf(path: readonly string[]): string {
  return path.join('/');
}

function* pairs(query: string): Generator<readonly [string, string]> {
  for (const pair of query.split('&')) {
    const [key = '', value = ''] = pair.split(/=(.*)/s);
    if (key !== '') yield [decode(key), decode(value.replaceAll('+', ' '))];
  }
}

/** `encodeURIComponent` throws at lone surrogates, which peers may put into names. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
