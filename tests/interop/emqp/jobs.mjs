// Jobs for our job manager; the peers in Python have the same.
import { setInterval } from 'node:timers';

export default {
  'jobs.echo': (id) => id,
  'jobs.hang': () => new Promise(() => setInterval(() => undefined, 1000)),
  'jobs.fail': (id) => {
    throw new Error(`no ${id}`);
  },
};
