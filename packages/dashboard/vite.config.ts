import { isBuiltin } from 'node:module';
import { defaultClientConditions, defineConfig } from 'vite';
import { fakeApi } from './test/fake-server.js';

export default defineConfig({
  // The files work below any path of any server.
  base: './',
  // The model is read from its source.
  resolve: { conditions: ['@proj/source', ...defaultClientConditions] },
  build: { target: 'es2022', modulePreload: { polyfill: false }, assetsInlineLimit: 0, reportCompressedSize: false },
  plugins: [
    {
      name: 'no-modules-of-node',
      apply: 'build',
      enforce: 'pre',
      // Otherwise an empty module would take its place. Whatever else is not found fails the build anyway.
      resolveId(specifier, importer) {
        if (isBuiltin(specifier)) throw new Error(`${String(importer)}: a browser has no ${specifier}`);
      },
    },
    {
      name: 'fake-api',
      // `npx vite` shows the page with invented data.
      configureServer(server) {
        const api = fakeApi();
        server.middlewares.use(api.handle);
        server.httpServer?.once('close', () => api.close());
      },
    },
  ],
});
