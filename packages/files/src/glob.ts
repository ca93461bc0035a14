/** Shell patterns of file names: `*` and `?` within a name, `**` across folders, `[seq]` and `[!seq]`. Never accesses a disk. */

/** Longest pattern, in characters. */
const PATTERN_MAX = 1024;

/** A pattern as a test of relative paths with forward slashes; `undefined` if it is invalid, too long, or leads out of the folder. */
export function globOf(pattern: string): ((path: string) => boolean) | undefined {
  if (pattern.length > PATTERN_MAX || pattern.startsWith('/') || pattern.split('/').includes('..')) return undefined;
  // Three or more stars mean the same as two and would be slow.
  const parts = pattern.replace(/\*{3,}/g, '**').split(/(\*\*\/|\*\*|\*|\?|\[!?[^\]/]+\])/);
  const source = parts.map((part) => meaningOfPart(part)).join('');
  try {
    const expression = new RegExp(`^${source}$`, 'u');
    return (path) => expression.test(path);
  } catch {
    // A range whose end is before its start.
    return undefined;
  }
}

function meaningOfPart(part: string): string {
  switch (part) {
    case '**/':
      return '(?:.*/)?';
    case '**':
      return '.*';
    case '*':
      return '[^/]*';
    case '?':
      return '[^/]';
    default: {
      const set = /^\[(!?)([^\]/]+)\]$/u.exec(part);
      if (set === null) return part.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
      return `[${set[1] === '!' ? '^/' : ''}${(set[2] as string).replace(/[\\^[]/g, String.raw`\$&`)}]`;
    }
  }
}
