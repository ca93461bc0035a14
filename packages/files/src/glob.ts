/** Patterns of file names as a shell has them: `*` and `?` within a name, `**` across folders, `[seq]` and `[!seq]`. Nothing here touches a disk. */

/** Longest pattern that is looked at, in characters. */
const PATTERN_MAX = 1024;

/** A pattern as a test of relative paths with forward slashes; `undefined` for what is none, leads out of a folder, or is too long. */
export function globOf(pattern: string): ((path: string) => boolean) | undefined {
  if (pattern.length > PATTERN_MAX || pattern.startsWith('/') || pattern.split('/').includes('..')) return undefined;
  // Many stars in a row mean the same as one, and would be slow to try.
  const parts = pattern.replace(/\*{3,}/g, '**').split(/(\*\*\/|\*\*|\*|\?|\[!?[^\]/]+\])/);
  const source = parts.map((part) => meaningOfPart(part)).join('');
  try {
    const expression = new RegExp(`^${source}$`, 'u');
    return (path) => expression.test(path);
  } catch {
    // A range whose end comes before its beginning.
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
