import { describe, expect, it } from 'vitest';
import { Progress } from './progress.js';

function shown(total: number, isTTY: boolean, act: (progress: Progress) => void): string {
  let text = '';
  act(new Progress({ isTTY, write: (chunk) => (text += chunk) }, total));
  return text.replaceAll('\r\u001b[2K', '<');
}

const steps = (count: number) => (progress: Progress) => {
  for (let n = 0; n < count; n++) progress.step();
};

describe('Progress', () => {
  it('writes a line per quarter if the output cannot be rewritten', () => {
    expect(shown(8, false, steps(8))).toBe(
      '  25 % (2 of 8 answers)\n  50 % (4 of 8 answers)\n  75 % (6 of 8 answers)\n  100 % (8 of 8 answers)\n',
    );
  });

  it('writes the last line even if the steps do not match the quarters', () => {
    expect(shown(3, false, steps(3))).toBe(
      '  33 % (1 of 3 answers)\n  66 % (2 of 3 answers)\n  100 % (3 of 3 answers)\n',
    );
    expect(shown(50, false, steps(50)).match(/\d+ %/g)).toEqual(['26 %', '50 %', '76 %', '100 %']);
  });

  it('rewrites one line on a terminal and ends it when everything is done', () => {
    expect(shown(2, true, steps(2))).toBe('<  50 % (1 of 2 answers)<  100 % (2 of 2 answers)\n');
  });

  it('shows a step at most once per percent on a terminal', () => {
    expect(shown(1000, true, steps(19))).toBe('<  1 % (10 of 1000 answers)');
  });

  it('puts other lines above the progress line', () => {
    const text = shown(4, true, (progress) => {
      progress.step();
      progress.say('worker killed');
    });
    expect(text).toBe('<  25 % (1 of 4 answers)<worker killed\n<  25 % (1 of 4 answers)');
  });
});
