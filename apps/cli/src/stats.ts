/** `proj stats`: every counter and size of a program, for every protocol it serves. */
import { defineCommand, formatTable, onOff, printable } from '@proj/appkit';
import { ProjError } from '@proj/client';
import type { Model } from '@proj/dashboard/shared';
import * as z from 'zod';

import { programOptions } from './http/options.js';
import { openProgram } from './http/program.js';
import { SERVED } from './protocols/index.js';

interface Figure {
  readonly protocol: string;
  readonly kind: 'counter' | 'dropped' | 'refused' | 'size';
  readonly name: string;
  readonly value: number;
}

const options = z.strictObject({
  ...programOptions,
  all: onOff().default(false).describe('also print zero counters'),
  json: onOff().default(false).describe('print JSON, one object for each protocol'),
});

/** Prints the counters of all protocols, or of one. */
export const stats = defineCommand({
  name: 'stats',
  summary: 'Print all counters and sizes of a program over HTTP, for all its protocols or for one.',
  options,
  operands: [
    {
      syntax: '[protocol]',
      help: 'only this protocol',
      words: SERVED,
    },
  ],
  examples: [
    { what: 'the broker of npm start', line: '' },
    { what: 'only its Majordomo, as JSON', line: 'mdp --json' },
    { what: 'its queue', line: '--http http://127.0.0.1:8056/' },
  ],
  async run({ settings, operands: [protocol], stop, print }) {
    const program = await openProgram(settings);
    const { servers } = await program.model(stop);
    const chosen = Object.values(servers).filter((server) => protocol === undefined || server.protocol === protocol);
    if (chosen.length === 0) throw absent(program.url, protocol, Object.keys(servers));
    if (settings.json) {
      const rows = chosen.map(({ protocol: name, endpoints: _, ...figures }) => [name, figures]);
      print(JSON.stringify(Object.fromEntries(rows)));
      return 0;
    }
    const figures = chosen.flatMap(figuresOf).filter(({ value }) => settings.all || value !== 0);
    const columns = (['protocol', 'kind', 'name', 'value'] as const).map((key) => ({
      heading: key.toUpperCase(),
      cell: (row: Figure) => (key === 'value' ? Math.round(row.value * 1000) / 1000 : printable(row[key])),
    }));
    for (const line of formatTable(columns, figures)) print(line);
    return 0;
  },
});

function figuresOf({ protocol, counters, dropped, refused, gauges }: Model['servers'][string]): Figure[] {
  const of = (kind: Figure['kind'], values: Readonly<Record<string, number>>): Figure[] =>
    Object.entries(values).map(([name, value]) => ({ protocol, kind, name, value }));
  return [...of('counter', counters), ...of('dropped', dropped), ...of('refused', refused), ...of('size', gauges)];
}

function absent(url: URL, protocol: string | undefined, served: readonly string[]): ProjError {
  const what = protocol === undefined ? 'the program serves nothing yet' : `the program does not serve "${protocol}"`;
  const instead = served.length === 0 ? '' : `: it serves ${served.join(', ')}`;
  return new ProjError('REJECTED', `${url.href}: ${what}${instead}`);
}
