import { project } from '../../vitest.shared.js';

export default project('app-scheduler', { isolate: false, libzmq: ['test/scheduler.test.ts'] });
