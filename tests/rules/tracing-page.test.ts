/** The snippets of docs/TRACING.md do what the page says. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as api from '@opentelemetry/api';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';

const page = readFileSync(fileURLToPath(new URL('../../docs/TRACING.md', import.meta.url)), 'utf8');
const [withOpenTelemetry = '', withoutIt = ''] = [...page.matchAll(/```[jt]s\n(.+?)```/gs)].map(([, code]) => code);

/** Runs code as a module of this package. */
async function run(name: string, code: string): Promise<void> {
  const folder = fileURLToPath(new URL('../reports', import.meta.url));
  const path = join(folder, `tracing-${name}.mts`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, code);
  onTestFinished(() => {
    rmSync(path);
  });
  await import(path);
}

afterAll(() => {
  api.trace.disable();
  api.context.disable();
  api.propagation.disable();
});

it('the second one reports how long each request took, and the first one prints two spans of one trace', async () => {
  const told = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const printed = vi.spyOn(console, 'dir').mockImplementation(() => undefined);
  onTestFinished(() => {
    told.mockRestore();
    printed.mockRestore();
  });
  await run('channels', withoutIt);
  await run('spans', withOpenTelemetry);
  const [served, asked] = printed.mock.calls.map(([span]) => span as Record<string, unknown>);
  expect([served, asked]).toMatchObject([
    { name: 'echo', kind: api.SpanKind.SERVER, events: [{ name: 'working' }], traceId: asked?.['traceId'] },
    { name: 'echo', kind: api.SpanKind.CLIENT },
  ]);
  expect(served?.['parentSpanContext']).toMatchObject({ spanId: asked?.['id'] });
  expect(told.mock.calls).toEqual([['echo', expect.any(Number), 'ok']]);
});
