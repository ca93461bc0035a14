import { project } from '../../vitest.shared.js';

export default project('app-queue', { libzmq: ['test/queue.test.ts'] });
