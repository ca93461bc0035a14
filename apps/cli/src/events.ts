/** `proj events`: the events of NORFAB workers about their jobs, as a broker publishes them. */
import {
  connectEndpoints,
  defineCommand,
  onOff,
  processTransport,
  text,
  transportOption,
  wholeNumber,
  withinADay,
} from '@proj/appkit';
import { NfpSubscriber, ProjError } from '@proj/client';
import type { NfpPublication } from '@proj/client/nfp';
import * as z from 'zod';
import { lineOfEvent } from './protocols/nfp.js';
import { publications } from './publications.js';
import { frameForJson } from './render.js';

const options = z.strictObject({
  connect: connectEndpoints()
    .default(['tcp://127.0.0.1:5556'])
    .describe('where brokers publish, their --nfp-events; subscribes to all of them'),
  uuid: text('TEXT', 'a text of 1 to 255 bytes').optional().describe('only events of this job; needs the service'),
  count: wholeNumber({ min: 0 }).default(0).describe('events to wait for; 0 continues until interrupted'),
  timeoutMs: withinADay(0).default(0).describe('how long to wait for each event; 0 is for ever'),
  transport: transportOption(),
  json: onOff().default(false).describe('print JSON, one event per line'),
});

/** Prints events. */
export const events = defineCommand({
  name: 'events',
  summary: 'Print the events of NORFAB workers about their jobs, as a broker publishes them, one line per event.',
  options,
  operands: [{ syntax: '[service]', help: 'service whose workers to follow; without it, all services' }],
  examples: [
    { what: 'everything, until interrupted', line: '' },
    { what: 'the next event of service sample, as JSON', line: 'sample --count 1 --json' },
    { what: 'one job', line: 'sample --uuid 4c38f1a6d2f64d3b8d6a1f0a5a3f6e11' },
  ],
  async run({ settings, operands, stop, log, print }) {
    const { connect, json, uuid, transport } = settings;
    const [service] = operands;
    if (uuid !== undefined && service === undefined)
      throw new ProjError(
        'OPTIONS_INVALID',
        `option --uuid = ${uuid}: needs the service; name it: proj events SERVICE`,
      );
    await using subscriber = new NfpSubscriber({ endpoints: connect, transport: processTransport(transport) });
    const subscription = subscriber.subscribe({ service, uuid, signal: stop });
    for await (const event of publications(subscription, 'event', settings)) {
      if (event.missed > 0)
        log.warn({ missed: event.missed }, 'events were dropped: they came faster than they could be printed');
      print(json ? jsonOf(event) : `${event.service} ${event.uuid} ${lineOfEvent(event, false)}`);
    }
    return 0;
  },
});

function jsonOf({ service, worker, uuid, value, body, missed }: NfpPublication & { readonly missed: number }): string {
  return JSON.stringify({ service, worker, uuid, event: value ?? body.map(frameForJson), missed });
}
