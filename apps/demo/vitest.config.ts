import { project } from '../../vitest.shared.js';

export default project('app-demo', { isolate: false });
