/** Asks the program of a folder for its texts, and writes `main.js` beside it. */
export function writeLauncher(folder: string): Promise<void>;
