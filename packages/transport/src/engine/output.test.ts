import { expect, it } from 'vitest';
import { StepOutput } from './output.js';

function output(): StepOutput<string> {
  const out = new StepOutput<string>();
  out.begin(0);
  return out;
}

it('leaves the effects of a step to the caller that took them', () => {
  const out = output();
  out.effects.push('first');
  const { effects } = out;
  out.begin(1);
  out.effects.push('second');
  expect([effects, out.effects, out.now]).toEqual([['first'], ['second'], 1]);
});

it('reports the same key once a minute and counts the others', () => {
  const out = output();
  out.note('a', 'note a');
  out.note('a', 'note a again');
  out.note('b', 'note b');
  expect([out.effects, out.counters.notesWithheld]).toEqual([['note a', 'note b'], 1]);
  out.begin(60_000);
  out.note('a', 'note a later');
  expect(out.effects).toEqual(['note a later']);
});
