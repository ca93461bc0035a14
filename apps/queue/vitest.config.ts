import { project } from '../../vitest.shared.js';

export default project('app-queue', { isolate: false, libzmq: ['test/queue.test.ts', 'test/consumers.test.ts'] });
