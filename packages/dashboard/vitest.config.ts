import { project } from '../../vitest.shared.js';

export default project('dashboard', { isolate: false });
