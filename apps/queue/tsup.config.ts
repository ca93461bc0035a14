import { program } from '../../tsup.shared.js';

export default program({ page: true });
