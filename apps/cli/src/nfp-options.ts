/** The options of the `proj` commands for NORFAB jobs. */
import { connectEndpoints, oneOf, onOff, text, transportOption, withinADay } from '@proj/appkit';
import * as z from 'zod';

/** Options of every command that talks to a NORFAB broker. */
export const nfpConnectionOptions = z.strictObject({
  connect: connectEndpoints().default(['tcp://127.0.0.1:5555']).describe('brokers, in order of preference'),
  dialect: oneOf(['current', 'legacy'])
    .default('current')
    .describe('dialect of the broker: legacy is NORFAB up to 0.14.0, whose services are called by GET'),
  timeoutMs: withinADay().default(10_000).describe('how long answers may take'),
  transport: transportOption(),
  json: onOff().default(false).describe('print JSON, one value per line'),
});

const store = text('FOLDER', 'a folder');

/** Options of `proj post`. */
export const postOptions = nfpConnectionOptions.extend({
  store: store
    .optional()
    .describe('record the job there, so that proj jobs can resume it after this process has ended (default: nowhere)'),
  target: text('WORKERS', 'all, any, the name of a worker, or a JSON array of names')
    .default('all')
    .describe('all workers of the service, any one, one by name, or several as a JSON array'),
  kwargs: text('JSON', 'a JSON object').default('{}').describe('named arguments of the task'),
  uuid: text('TEXT', 'a text of 1 to 255 bytes').optional().describe('id of the job (default: 32 random digits)'),
  wait: onOff()
    .default(true)
    .describe('wait for the results; with --no-wait print the uuid once the workers have the job'),
  events: onOff().default(false).describe('print what workers report while they run the job'),
  timeoutMs: withinADay().default(60_000).describe('how long the job may take'),
});

/** Options of `proj jobs`. */
export const jobsOptions = nfpConnectionOptions.extend({
  store: store.optional().describe('the folder given to proj post --store; it must exist'),
  wait: onOff()
    .default(true)
    .describe(
      'resume jobs that have no outcome yet, and wait for them; with --no-wait list jobs without waiting for them',
    ),
  timeoutMs: withinADay().default(60_000).describe('how long to wait for them'),
});

/** Options of `proj get` and `proj delete`. */
export const jobOptions = nfpConnectionOptions.extend({
  service: text('NAME', 'a text of 1 to 255 bytes')
    .default('all')
    .describe('service whose workers are asked; all means every service'),
  target: text('WORKERS', 'all, any, the name of a worker, or a JSON array of names')
    .default('all')
    .describe('which of its workers to ask'),
});

/** Options of `proj fetch`. */
export const fetchOptions = nfpConnectionOptions.extend({
  to: text('FOLDER', 'a folder').default('.').describe('the folder for the file'),
  worker: text('NAME', 'the name of a worker, or any')
    .optional()
    .describe("get it from a worker of service filesharing (default: the broker's own files)"),
});
