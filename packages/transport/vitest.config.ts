import { project } from '../../vitest.shared.js';

export default project('transport', { isolate: false });
