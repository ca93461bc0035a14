/** Majordomo 0.2 and 0.1 in proj-worker. */
import type { Service } from '@proj/frames/service';
import { MdpWorker } from '@proj/worker';
import type { MdpWorkerOptions } from '@proj/worker';
import { mdpWorkerOptions } from '@proj/worker/mdp';
import * as z from 'zod';
import type { Implementation } from '../handlers/implementation.js';
import { commonOptions, offersByService, usualIn } from '../protocol.js';
import type { Protocol } from '../protocol.js';

const { shape } = mdpWorkerOptions;
const usual = usualIn(shape.endpoints.def.defaultValue, shape);

const options = z.strictObject({});

/** The part of proj-worker that speaks Majordomo 0.2. */
export const mdp = majordomo('0.2');

/** The same in 0.1. */
export const mdp01 = majordomo('0.1');

function majordomo(version: '0.2' | '0.1'): Protocol<typeof options> {
  return {
    title: `Majordomo ${version}`,
    usual,
    options,
    offers(settings, surroundings) {
      const { connect = [...usual.endpoints] } = settings;
      const common = { ...commonOptions(settings), endpoints: connect, version, transport: surroundings.transport };
      return offersByService(settings, surroundings, (service, implementation) =>
        construct(service, implementation, common),
      );
    },
  };
}

function construct(
  service: string,
  implementation: Implementation,
  options: Omit<MdpWorkerOptions, 'service' | 'handler'>,
): Pick<MdpWorker, 'on' | 'start' | 'drain' | 'stats'> {
  if (implementation.kind === 'frames') return new MdpWorker({ ...options, service, handler: implementation.handle });
  const { define, handle } = implementation;
  return new MdpWorker<Service>({
    ...options,
    service: define(service),
    handler: ({ input }) => handle(input as never),
  });
}
