// What `npm test` and `npm run test:interop` run here: everything, and what has peers on both transports.
import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { projects: ['vitest.config.ts', 'vitest.zmtp.config.ts'] } });
