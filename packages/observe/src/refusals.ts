/** Requests that can be refused by their head alone. Anything else, and anything doubtful, is left to the server behind it. */

/** The head of a request. */
export interface RequestHead {
  readonly method: string;
  /** Without the query, and as it was sent. */
  readonly path: string;
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
}

/** An answer that ends its connection. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 413 | 429 | 431 | 503;
  readonly error: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Those of this server, by what is wrong. */
export const REFUSALS = {
  noPath: { status: 400, error: 'The path is not valid.' },
  foreign: { status: 403, error: 'Use the address of this server or localhost.' },
  noActions: { status: 403, error: 'Actions need a token: start the program with --http-token-file.' },
  missing: { status: 401, error: 'The token is missing.', headers: { 'www-authenticate': 'Bearer' } },
  wrong: { status: 401, error: 'The token is wrong.', headers: { 'www-authenticate': 'Bearer' } },
  'too-many': { status: 429, error: 'Too many wrong tokens: wait a minute.', headers: { 'retry-after': '60' } },
  notFound: { status: 404, error: 'Not found.' },
  longBody: { status: 413, error: 'The body is too long.' },
  longHead: { status: 431, error: 'The head of the request is too long.' },
  streams: { status: 503, error: 'Too many open event streams.', headers: { 'retry-after': '5' } },
} satisfies Readonly<Record<string, Refusal>>;

const REASONS: Readonly<Record<Refusal['status'], string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  413: 'Payload Too Large',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
};
const encoded = new WeakMap<Refusal, Buffer>();

/** The head in these bytes; nothing if it is unusual in any way. */
export function parseHead(text: string): RequestHead | undefined {
  const [first = '', ...lines] = text.split('\r\n');
  const [, method, path] = /^([A-Z]+) (\/[!-~]*) HTTP\/1\.[01]$/.exec(first) ?? [];
  if (method === undefined || path === undefined) return undefined;
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value = ''] = /^([\w-]+):[ \t]*(.*)$/.exec(line) ?? [];
    if (name === undefined || headers.has(name.toLowerCase())) return undefined;
    headers.set(name.toLowerCase(), value.trim());
  }
  return { method, path: path.split('?', 1).join(''), headers };
}

/** The bytes of a refusal; made once for each. */
export function encodeRefusal(refusal: Refusal): Buffer {
  let bytes = encoded.get(refusal);
  if (bytes === undefined) {
    const { status, error, headers = {} } = refusal;
    const body = JSON.stringify({ error });
    bytes = Buffer.from(
      [
        `HTTP/1.1 ${status} ${REASONS[status]}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        "content-security-policy: default-src 'none'",
        'x-content-type-options: nosniff',
        'content-type: application/json; charset=utf-8',
        `content-length: ${body.length}`,
        'connection: close',
        '',
        body,
      ].join('\r\n'),
    );
    encoded.set(refusal, bytes);
  }
  return bytes;
}
