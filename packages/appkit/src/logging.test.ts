import { describe, expect, it } from 'vitest';
import { prettyLine } from './logging.js';

describe('prettyLine', () => {
  const record = { level: 'info', time: '2026-01-02T03:04:05.678Z', name: 'proj-broker', pid: 7, msg: 'listening' };

  it('shows time of day, level, program, message and fields', () => {
    const line = JSON.stringify({ ...record, endpoints: ['tcp://127.0.0.1:5555'], workers: 2, peer: '00ab' });
    expect(prettyLine(line)).toBe(
      '03:04:05.678 INFO  proj-broker[7] listening endpoints=["tcp://127.0.0.1:5555"] workers=2 peer=00ab\n',
    );
  });

  it('keeps what a peer sent on one line', () => {
    expect(prettyLine(JSON.stringify({ ...record, service: 'a\nb "c"' }))).toMatch(/ service="a\\nb \\"c\\""\n$/);
  });
});
