/** The scheduler: what runs next, and how the last runs ended. */
import type { VNode } from 'preact';
import type { Model, ScheduleRow } from '@proj/observe/model';
import { ago, until } from '../shared/format.js';
import { serverNow } from '../shared/merge.js';
import { Badge, Counts, Heading, Section, To } from '../parts/bits.js';
import { figure } from '../parts/columns.js';
import { Table } from '../parts/table.js';

/** The scheduler's view. */
export function Scheduler({ model }: { model: Model }): VNode {
  const rows = Object.values(model.schedules ?? {});
  const now = serverNow(model);
  const counters = model.servers['scheduler']?.counters;
  if (model.schedules === undefined && counters === undefined)
    return (
      <>
        <Heading title="Scheduler" />
        <p class="none">This program has no scheduler. Start one with “proj-scheduler”.</p>
      </>
    );
  return (
    <>
      <Heading title="Scheduler" />
      {model.schedules !== undefined && (
        <Section title="Schedules">
          <Table
            caption="Schedules"
            rows={rows}
            keyOf={({ id }) => id}
            sort={{ column: 'next', descending: false }}
            none="Nothing is scheduled."
            textOf={({ id, target, when }) => `${id} ${target} ${when}`}
            columns={[
              { id: 'id', title: 'Schedule', width: 1.6, value: ({ id }) => id },
              {
                id: 'when',
                title: 'When',
                isExtra: true,
                value: ({ when }) => when,
                cell: ({ when }) => <code>{when}</code>,
              },
              {
                id: 'target',
                title: 'Job',
                isExtra: true,
                width: 1.4,
                value: ({ target }) => target,
                cell: ({ target }) =>
                  `scheduler/${target}` in model.services ? (
                    <To path={['services', 'scheduler', target]}>{target}</To>
                  ) : (
                    target
                  ),
              },
              {
                id: 'next',
                title: 'Next',
                isFigure: false,
                value: ({ nextAt }) => nextAt ?? Infinity,
                cell: ({ nextAt }) => (nextAt === undefined ? 'never' : until(nextAt, now)),
              },
              {
                id: 'last',
                title: 'Last',
                value: ({ lastAt }) => lastAt ?? 0,
                cell: ({ lastAt }) => (lastAt === undefined ? 'never' : ago(lastAt, now)),
              },
              {
                id: 'outcome',
                title: 'Result',
                value: ({ lastOutcome }) => lastOutcome ?? '',
                cell: ({ lastOutcome }) =>
                  lastOutcome === undefined ? (
                    '–'
                  ) : (
                    <Badge tone={lastOutcome === 'ok' ? 'good' : 'bad'}>{lastOutcome}</Badge>
                  ),
              },
              figure<ScheduleRow>('runs', 'Runs', ({ runs }) => runs, { isExtra: true }),
            ]}
          />
        </Section>
      )}
      {counters !== undefined && <Counts title="Since the start" counts={counters} none="Nothing was counted yet." />}
    </>
  );
}
