import { copyFile } from 'node:fs/promises';
import { program } from '../../tsup.shared.js';

export default program({
  page: true,
  // What job processes load is copied beside the program, unbundled.
  async onSuccess() {
    await copyFile('../../packages/worker/src/emqp/job-process.mjs', 'dist/job-process.mjs');
    await copyFile('src/jobs.mjs', 'dist/jobs.mjs');
  },
});
