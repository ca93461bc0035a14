import { project } from '../../vitest.shared.js';

export default project('app-broker', { isolate: false });
