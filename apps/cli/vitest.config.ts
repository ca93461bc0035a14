import { project } from '../../vitest.shared.js';

export default project('app-cli', { libzmq: ['test/status.test.ts'] });
