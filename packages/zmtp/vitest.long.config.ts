// What `npm run test:all` runs here besides `npm test`: more damaged conversations, and what has sockets once more on the plain path.
import { defineConfig, mergeConfig } from 'vitest/config';
import { project } from '../../vitest.shared.js';

const fuzz = mergeConfig(project('zmtp, longer', { isolate: false }), { test: { include: ['src/fuzz.test.ts'] } });

export default defineConfig({ test: { projects: [fuzz, 'vitest.plain.config.ts'] } });
