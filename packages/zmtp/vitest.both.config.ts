// What `npm test` runs here: everything, and what has sockets once more on the plain path.
import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { projects: ['vitest.config.ts', 'vitest.plain.config.ts'] } });
