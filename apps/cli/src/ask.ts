/**
 * `proj post` to services that answer directly and have no jobs: the management of broker and workers, and the inventory.
 */
import { ProjError } from '@proj/client';
import type { NfpClient } from '@proj/client';

/** A task and its arguments. */
interface Call {
  readonly service: string;
  readonly task: string;
  readonly args: readonly unknown[];
  readonly kwargs: Record<string, unknown>;
  readonly target: string;
  readonly signal: AbortSignal;
}

/** The outcome. */
interface Asked {
  readonly lines: readonly string[];
  readonly exitCode: number;
}

/** Asks such a service; returns `undefined` for a service of workers, which have jobs. Rejects as the client does. */
export async function askService(client: NfpClient, call: Call, json: boolean): Promise<Asked | undefined> {
  const { service, task, kwargs, signal } = call;
  const args = [...call.args];
  const say = (value: unknown): Asked => ({ lines: [JSON.stringify(value, null, json ? 0 : 2)], exitCode: 0 });
  switch (service) {
    case 'mmi.service.broker':
      return say(await client.mmi(task, { args, kwargs, signal }));
    case 'mmi.service.worker':
      return sayEach(await client.mmiWorkers(task, { args, kwargs, signal, target: call.target }), json);
    case 'sid.service.broker': {
      const { name = args[0] } = kwargs;
      if (task !== 'get_inventory' || typeof name !== 'string')
        throw new ProjError('OPTIONS_INVALID', `service ${service}: its only task is get_inventory WORKER`);
      return say(await client.inventory(name, { signal }));
    }
    case 'fss.service.broker':
      throw new ProjError('OPTIONS_INVALID', `service ${service}: use proj fetch to get its files`);
    default:
      return undefined;
  }
}

/** One line for each worker; workers that do not give a name share `?`. */
function sayEach(answers: Awaited<ReturnType<NfpClient['mmiWorkers']>>, json: boolean): Asked {
  const lines = answers.map(({ worker, status, value }) =>
    json
      ? JSON.stringify({ worker: worker ?? null, status, value: value ?? null })
      : `${worker ?? '?'}: ${status === 200 ? '' : `status ${status} `}${JSON.stringify(value ?? null)}`,
  );
  const isLate = answers.some(({ status }) => status === 408);
  return { lines, exitCode: isLate ? 3 : answers.some(({ status }) => status !== 200) ? 1 : 0 };
}
