/** Light or dark: the viewer's system decides, unless a choice was made here. */

/** `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark';

const KEY = 'proj-theme';

/** The choice of an earlier visit. */
export function savedTheme(): Theme {
  try {
    const saved = localStorage.getItem(KEY);
    return saved === 'light' || saved === 'dark' ? saved : 'auto';
  } catch {
    return 'auto';
  }
}

/** Shows a theme and remembers it; a browser that stores nothing forgets it with the page. */
export function applyTheme(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Nothing depends on it.
  }
}
