import { project } from '../../vitest.shared.js';

export default project('testkit', { isolate: false });
