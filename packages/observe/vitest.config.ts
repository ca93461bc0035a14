import { project } from '../../vitest.shared.js';

export default project('observe', { isolate: false });
