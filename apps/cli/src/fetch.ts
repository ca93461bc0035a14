/** `proj fetch`: files of a NORFAB broker or of its filesharing workers. */
import { defineCommand } from '@proj/appkit';
import { fetchOptions } from './nfp-options.js';
import { withNfpClient } from './protocols/nfp.js';

/** Fetches a file, or lists a folder. */
export const fetch = defineCommand({
  name: 'fetch',
  summary: 'Fetch a file from a NORFAB broker or worker, or list a folder if the URL ends with a slash.',
  options: fetchOptions,
  operands: [{ syntax: '<url>', help: 'nf://folder/file, or nf://folder/ for a list' }],
  examples: [
    { what: 'a file of the broker, into this folder', line: 'nf://templates/base.j2' },
    { what: 'a list of the files', line: 'nf://templates/' },
    { what: 'from any filesharing worker', line: 'nf://images/switch.bin --worker any --to /tmp --timeout-ms 600000' },
  ],
  async run({ settings, operands, stop, print }) {
    const [url = ''] = operands;
    const { to, worker, timeoutMs, json } = settings;
    const own = { timeoutMs, signal: stop, ...(worker === undefined ? {} : { worker }) };
    await withNfpClient(settings, async (client) => {
      if (url.endsWith('/')) {
        const names = await client.listFiles(url, own);
        if (json) print(JSON.stringify(names));
        else for (const name of names) print(name);
        return;
      }
      const file = await client.fetchFile(url, { ...own, to });
      print(json ? JSON.stringify(file) : `${file.path}: ${file.bytes} bytes, MD5 ${file.md5}`);
    });
    return 0;
  },
});
