/** One seed of TINY/1: a broker, workers and clients in simulated processes, from start to leak check. */
import { fromLatin1, latin1, printable } from '@proj/frames';
import { SeededRandom } from '@proj/transport/virtual';
import type { VirtualTransport } from '@proj/transport/virtual';
import { runCourse } from '../../simulation/kit/course.js';
import type { CourseSummary } from '../../simulation/kit/course.js';
import { Simulation } from '../../simulation/kit/simulation.js';
import type { StartProgram } from '../../simulation/kit/simulation.js';
import { sleep } from '../../simulation/kit/sleep.js';
import { tinyBroker } from '../broker.js';
import { tinyClient } from '../client.js';
import { tinyWorker } from '../worker.js';
import { answerTo, BROKER, OutcomesChecker } from './outcomes.js';

/** Facts about one run. */
export interface Summary extends CourseSummary {
  readonly calls: number;
  readonly answered: number;
}

/** One call of a client. */
interface Call {
  readonly text: string;
  readonly transport: VirtualTransport;
  /** Made while all was well: there is an idle worker for it, and it must be answered. */
  readonly isCalm: boolean;
  outcomes: number;
  answered: boolean;
}

const ENDPOINT = `tcp://${BROKER}:5599`;
/** Longest work and longest pause of a client, in virtual milliseconds. */
const WORK_MS = 200;

/** Runs a seed; throws `SimulationFailure` if anything is wrong. */
export async function simulateTiny(seed: number): Promise<Summary> {
  const plan = new SeededRandom(seed).fork('plan');
  const timing = { latencyMs: plan.between(0.1, 5), jitterMs: plan.between(0, 10) };
  const simulation = new Simulation({ seed, disconnectNotices: plan.chance(0.7), timing });
  const options = { endpoint: ENDPOINT, patienceMs: 500 + plan.below(1500) };
  const checker = simulation.watch(new OutcomesChecker());
  const calls: Call[] = [];
  let [isCalm, isOver] = [false, false];

  const startBroker: StartProgram = async (transport) => {
    const broker = tinyBroker({ ...options, transport });
    await broker.start();
    return broker;
  };
  const startWorker: StartProgram = async (transport, random) => {
    let work = Promise.resolve();
    const worker = tinyWorker({
      ...options,
      transport,
      handler: async ([frame = new Uint8Array()]) => {
        await (work = sleep(transport, random.between(0, WORK_MS)));
        return [fromLatin1(answerTo(latin1(frame)))];
      },
    });
    await worker.start();
    const close = async () => {
      await (random.chance(0.5) ? worker.drain() : worker.close());
      // A close does not wait for the handler.
      await work;
    };
    return { close };
  };
  const startClient: StartProgram = (transport, random) => {
    const client = tinyClient({ ...options, transport });
    const work = async (): Promise<void> => {
      while (!isOver) {
        const call: Call = {
          text: `${transport.name}-${calls.length}`,
          transport,
          isCalm,
          outcomes: 0,
          answered: false,
        };
        calls.push(call);
        const reply = await client.request([fromLatin1(call.text)]).catch(() => undefined);
        call.outcomes++;
        call.answered = reply !== undefined;
        if (reply && latin1(reply[0] ?? new Uint8Array()) !== answerTo(call.text))
          simulation.fail(`${call.text} was answered with ${reply.map((frame) => printable(frame)).join(' ')}`);
        await sleep(transport, random.between(0, WORK_MS));
      }
    };
    const running = work();
    const close = async () => {
      await running;
      await client.close();
    };
    return { close };
  };

  const broker = simulation.host(BROKER, startBroker);
  const clients = Array.from({ length: 1 + plan.below(3) }, (_, i) => simulation.host(`client-${i}`, startClient));
  const workers = Array.from({ length: clients.length + plan.below(2) }, (_, i) =>
    simulation.host(`worker-${i}`, startWorker),
  );
  const open = () => calls.filter(({ outcomes, transport }) => outcomes === 0 && transport.state !== 'dead');
  const course = await runCourse({
    simulation,
    victims: simulation.hosts,
    lasting: clients,
    links: [...workers, ...clients].map((host) => [host, broker] as const),
    meanGapMs: plan.between(150, 600),
    // Longer than ZMTP takes to notice a silent connection.
    settleMs: 9000,
    calmMs: 8000,
    patienceMs: 60_000,
    workload: {
      get open() {
        return open().map(({ text }) => text);
      },
      stop: () => {
        isOver = true;
      },
    },
    beginCalm: () => {
      isCalm = true;
    },
    accounts: () => {
      for (const { text, isCalm: wasCalm, answered } of calls)
        if (wasCalm && !answered) simulation.fail(`${text} was lost while all was well`);
      simulation.check('outcomes', () => {
        checker.checkEnd();
      });
      return Promise.resolve();
    },
  });
  return { calls: calls.length, answered: calls.filter(({ answered }) => answered).length, ...course };
}
