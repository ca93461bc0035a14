import { expect, it } from 'vitest';
import { OldAnswers } from './old-answers.js';

/** Counts with so many questions, and then a POST. */
function postedAfter(questions: number): OldAnswers {
  const answers = new OldAnswers();
  for (let question = 0; question < questions; question++) answers.asked();
  answers.posted();
  return answers;
}

it('as many answers are old as questions came before the POST, for each worker on its own', () => {
  const answers = postedAfter(3);
  const ofBoth = [1, 2, 3, 4].map(() => [answers.isOld('w1', true), answers.isOld('w2', true)]);
  expect(ofBoth).toEqual([
    [true, true],
    [true, true],
    [true, true],
    [false, false],
  ]);
});

it('answers before the POST count', () => {
  const answers = new OldAnswers();
  for (let question = 0; question < 3; question++) answers.asked();
  answers.isOld('w1', true);
  answers.isOld('w1', true);
  answers.posted();
  expect([answers.isOld('w1', true), answers.isOld('w1', true)]).toEqual([true, false]);
});

it('nothing is old before a POST, nor what the broker answers itself', () => {
  const answers = new OldAnswers();
  answers.unasked();
  answers.asked();
  answers.unasked();
  answers.asked();
  expect(answers.isOld('w1', true)).toBe(false);
  answers.posted();
  expect(answers.isOld('w1', true)).toBe(false);
});

it('after a thousand questions without an answer, 16 are expected', () => {
  const answers = postedAfter(1000);
  expect(Array.from({ length: 17 }, () => answers.isOld('w1', true)).lastIndexOf(true)).toBe(15);
});

it('counts for members and former members only, whoever answers', () => {
  const answers = postedAfter(3);
  answers.isOld('w1', true);
  for (let stranger = 0; stranger < 1000; stranger++) answers.isOld(`s${stranger}`, false);
  expect(answers.isOld('w1', false)).toBe(true);
  expect(answers.size).toBe(1);
});
