import { project } from '../../vitest.shared.js';

export default project('app-scheduler', { libzmq: ['test/scheduler.test.ts'] });
