import { copyFile } from 'node:fs/promises';
import { library } from '../../tsup.shared.js';

export default library({
  // The program of a job manager's processes is found beside the code that starts them, in either format.
  shims: true,
  onSuccess: () => copyFile('src/emqp/job-process.mjs', 'dist/job-process.mjs'),
});
