import { expect, it } from 'vitest';
import { serviceManager } from './service-manager.js';

/** A manager that records what it is told, and when it is told that the service is alive. */
function told(env: Readonly<Record<string, string>>) {
  const messages: string[] = [];
  const beats: { readonly intervalMs: number; readonly action: () => void; ended: boolean }[] = [];
  const manager = serviceManager(env, {
    run: (file, args) => messages.push([file, ...args].join(' ')),
    every: (intervalMs, action) => {
      const beat = { intervalMs, action, ended: false };
      beats.push(beat);
      return () => {
        beat.ended = true;
      };
    },
  });
  return { manager, messages, beats };
}

const pid = `--pid=${process.pid}`;

it('reports to nobody if no manager listens', () => {
  const { manager, messages } = told({});
  manager.ready();
  manager.stopping();
  expect(messages).toEqual([]);
});

it('tells systemd that it is ready, and that it is stopping', () => {
  const { manager, messages } = told({ NOTIFY_SOCKET: '/run/notify' });
  manager.ready();
  manager.stopping();
  expect(messages).toEqual([`systemd-notify ${pid} --ready`, `systemd-notify ${pid} STOPPING=1`]);
});

it('notifies its watchdog twice per period, from ready to stopping', () => {
  const { manager, messages, beats } = told({ NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '30000000' });
  expect(beats).toEqual([]);
  manager.ready();
  expect(beats).toMatchObject([{ intervalMs: 15_000, ended: false }]);
  beats[0]?.action();
  expect(messages).toEqual([`systemd-notify ${pid} --ready`, `systemd-notify ${pid} WATCHDOG=1`]);
  manager.stopping();
  expect(beats).toMatchObject([{ ended: true }]);
});
