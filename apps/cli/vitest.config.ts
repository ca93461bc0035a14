import { project } from '../../vitest.shared.js';

export default project('app-cli', { isolate: false, libzmq: ['test/status.test.ts'] });
