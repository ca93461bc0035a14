import { expect, it } from 'vitest';
import { smallModel } from '../../test/model.js';
import { TABLES } from './tables.js';

it('counts delayed and dead messages once, for the queue and not for the service of its dead letters', () => {
  const model = smallModel();
  const mail = model.services['emqp/mail']!;
  const orders = { ...mail, protocol: 'pzq', name: 'orders', waiting: 900, isPaused: undefined };
  const services = {
    'pzq/orders': orders,
    'pzq/orders.dead': { ...orders, name: 'orders.dead', waiting: 2, isDead: true },
  } as unknown as typeof model.services;
  const tables = TABLES.map((table) => table({ ...model, services }));
  const queues = tables.find(({ title }) => title === 'Queues')!;
  const { cells } = queues.rows(queues.choice);
  const shown = ['QUEUE', 'READY', 'DELAYED', 'DEAD'].map((name) =>
    queues.columns.findIndex(({ heading }) => heading === name),
  );
  expect(cells(0, 2).map((row) => shown.map((at) => row[at]))).toEqual([
    ['orders', '900', '5', '2'],
    ['orders.dead', '2', '0', '0'],
  ]);
});
