import { inventory } from '../../deploy/inventory.mjs';
import { library } from '../../tsup.shared.js';

// Its ciphers are bundled, with their licences.
export default library({ esbuildPlugins: [inventory()] });
