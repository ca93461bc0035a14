import { copyFile } from 'node:fs/promises';
import { library } from '../../tsup.shared.js';

// The program of a job manager's processes is found beside the code that starts them.
export default library({ onSuccess: () => copyFile('src/emqp/job-process.mjs', 'dist/job-process.mjs') });
