/** Light or dark: follows the viewer's system, unless a choice was made here. */

/** `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark';

const KEY = 'proj-theme';

/** The choice from an earlier visit. */
export function savedTheme(): Theme {
  try {
    const saved = localStorage.getItem(KEY);
    return saved === 'light' || saved === 'dark' ? saved : 'auto';
  } catch {
    return 'auto';
  }
}

/** Applies a theme and remembers it. If the browser cannot store it, it ends with the page. */
export function applyTheme(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Nothing depends on it.
  }
}
