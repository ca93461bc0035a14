import { project } from '../../vitest.shared.js';

export default project('app-worker', { isolate: false });
