/** A running program, seen through its HTTP interface: docs/operations.md. */
import { readFile } from 'node:fs/promises';
import { printable } from '@proj/appkit';
import { ProjError } from '@proj/client';
import { applyDelta, EventParser } from '@proj/dashboard/shared';
import type { Action, ActionResult, Delta, Model } from '@proj/dashboard/shared';
import * as z from 'zod';

/** A server writes every second; after this much silence it is gone, whatever the connection says. */
const SILENCE_MAX_MS = 10_000;
/** How long an answer may take by default: figures are ready, but an action on many messages takes time. */
const QUESTION_MS = 2500;
const ACTION_MS = 60_000;

/** Values of the options in `http/options.ts`. */
export interface ProgramSettings {
  readonly http: string;
  readonly tokenFile?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The fields an answer must have to be read; rows are not checked. */
const rows = z.record(z.string(), z.looseObject({}));
const models = z.looseObject({
  process: z.looseObject({ name: z.string(), startedAt: z.number() }),
  servers: rows,
  services: rows,
  workers: rows,
  clients: rows,
  deadLetters: rows,
  faults: rows,
  notes: z.array(z.looseObject({})),
  history: z.array(z.looseObject({ at: z.number() })),
});
/** A sentence for people, shown in a terminal. */
const sentence = z.string().transform(printable);
const results = z.looseObject({ ok: z.boolean(), count: z.number(), text: sentence });
const refusals = z.looseObject({ error: sentence });

/** Opens no connection yet. Rejects with `OPTIONS_INVALID` for an unusable address or token. */
export async function openProgram({ http, tokenFile, timeoutMs }: ProgramSettings): Promise<RemoteProgram> {
  const address = /^https?:\/\//i.test(http) ? http : `http://${http}`;
  if (!URL.canParse(address))
    throw new ProjError('OPTIONS_INVALID', `--http = "${http}": must be an address such as http://127.0.0.1:8055/`);
  const url = new URL(address);
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return new RemoteProgram(url, tokenFile === undefined ? undefined : await readToken(tokenFile), timeoutMs);
}

/**
 * The program at an address. Failures reject with `UNREACHABLE`, `TIMEOUT`, `REJECTED` (with the program's message), or
 * `PROTOCOL_REMOTE` if it is not a program of this project.
 */
export class RemoteProgram {
  readonly url: URL;
  readonly #token: string | undefined;
  readonly #timeoutMs: number | undefined;

  constructor(url: URL, token: string | undefined, timeoutMs: number | undefined) {
    this.url = url;
    this.#token = token;
    this.#timeoutMs = timeoutMs;
  }

  /** The whole model. */
  async model(stop: AbortSignal): Promise<Model> {
    const response = await this.#ask('api/model', { signal: this.#limit(stop) });
    return this.#modelOf(await this.#read(response.text()));
  }

  /** The body of a dead letter, its frames concatenated; `undefined` if there is no such letter. */
  async deadLetter(id: string, stop: AbortSignal): Promise<Uint8Array | undefined> {
    const path = `api/dead/${encodeURIComponent(id)}`;
    const response = await this.#ask(path, { signal: this.#limit(stop) }, [404]);
    return response.ok ? new Uint8Array(await this.#read(response.arrayBuffer())) : undefined;
  }

  /** Runs an action. Rejects with `REJECTED` and the reason if it fails. */
  async act(action: Action, stop: AbortSignal): Promise<ActionResult> {
    const headers = { 'content-type': 'application/json' };
    const advice = `; the action may still be under way: look with proj status --http ${this.url.href}`;
    const signal = this.#limit(stop, ACTION_MS, advice);
    const request = { method: 'POST', headers, body: JSON.stringify(action), signal };
    const response = await this.#ask('api/actions', request, [400, 409, 500]);
    const result = results.safeParse(this.#json(await this.#read(response.text())));
    if (!result.success) throw this.#isForeign();
    if (!result.data.ok) throw new ProjError('REJECTED', `${this.url.href}: ${result.data.text}`);
    return result.data;
  }

  /** The model, refreshed every second, until the connection ends; then it rejects like the other calls. */
  async *models(stop: AbortSignal): AsyncGenerator<Model, never, undefined> {
    const silence = new AbortController();
    const listen = (ms: number) => setTimeout(() => silence.abort(this.#isSilent(ms)), ms);
    let timer = listen(this.#timeoutMs ?? QUESTION_MS);
    try {
      const signal = AbortSignal.any([stop, silence.signal]);
      const response = await this.#ask('api/events', { headers: { accept: 'text/event-stream' }, signal });
      const parser = new EventParser();
      const decoder = new TextDecoder();
      let model: Model | undefined;
      for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        clearTimeout(timer);
        timer = listen(SILENCE_MAX_MS);
        for (const { event, data } of parser.push(decoder.decode(piece, { stream: true }))) {
          if (event === 'model') model = this.#modelOf(data);
          else if (event === 'delta' && model !== undefined) model = applyDelta(model, this.#json(data) as Delta);
          else continue;
          yield model;
        }
      }
    } catch (error) {
      throw this.#explain(error, stop);
    } finally {
      clearTimeout(timer);
    }
    throw new ProjError('UNREACHABLE', `${this.url.href}: the program ended the connection`);
  }

  async #ask(path: string, request: RequestInit, expected: readonly number[] = []): Promise<Response> {
    let response: Response;
    const authorization = this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` };
    const headers = { ...(request.headers as Record<string, string> | undefined), ...authorization };
    try {
      // A token must not be sent on to another address.
      response = await fetch(new URL(path, this.url), { ...request, headers, redirect: 'error' });
    } catch (error) {
      throw this.#explain(error);
    }
    if (response.ok || expected.includes(response.status)) return response;
    const refusal = refusals.safeParse(this.#json(await this.#read(response.text())));
    if (!refusal.success) throw this.#isForeign();
    const remedy = response.status === 401 ? ' Give it with --token-file.' : '';
    throw new ProjError('REJECTED', `${this.url.href}: ${refusal.data.error}${remedy}`);
  }

  /** The body of an answer. */
  async #read<Body>(body: Promise<Body>): Promise<Body> {
    try {
      return await body;
    } catch (error) {
      throw this.#explain(error);
    }
  }

  #modelOf(text: string): Model {
    const model = models.safeParse(this.#json(text));
    if (!model.success) throw this.#isForeign();
    return model.data as unknown as Model;
  }

  #json(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw this.#isForeign();
    }
  }

  #isForeign(): ProjError {
    return new ProjError('PROTOCOL_REMOTE', `${this.url.href}: this is not a program of this project`);
  }

  #isSilent(ms: number, advice = ''): ProjError {
    return new ProjError('TIMEOUT', `${this.url.href}: no answer within ${ms} ms${advice}`);
  }

  /** Aborted by `stop`, or with our message once the time is up. */
  #limit(stop: AbortSignal, usualMs = QUESTION_MS, advice?: string): AbortSignal {
    const ms = this.#timeoutMs ?? usualMs;
    const late = new AbortController();
    setTimeout(() => late.abort(this.#isSilent(ms, advice)), ms).unref();
    return AbortSignal.any([stop, late.signal]);
  }

  /** Replaces an error of `fetch` with our message; keeps that of `stop`. */
  #explain(error: unknown, stop?: AbortSignal): unknown {
    if (error instanceof ProjError || stop?.aborted === true) return error;
    if (!(error instanceof TypeError)) return error;
    const { code, message } = (error.cause ?? error) as { readonly code?: string; readonly message?: string };
    const remedy = 'start the program with --http, or give its address with --http';
    return new ProjError('UNREACHABLE', `${this.url.href}: cannot be reached (${code ?? message ?? ''}): ${remedy}`);
  }
}

async function readToken(file: string): Promise<string> {
  const refuse = (why: string) => new ProjError('OPTIONS_INVALID', `--token-file = "${file}": must be ${why}`);
  let token: string;
  try {
    token = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw refuse(`a readable file (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
  }
  if (!/^[\x21-\x7e]+$/.test(token)) throw refuse('a file with a token: printable ASCII without spaces');
  return token;
}
