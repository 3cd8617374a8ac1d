import { tidyBreakers } from "../kernel/breakers.ts";
import { tidyTokens } from "../kernel/callback-tokens.ts";
import { type Fired, fire } from "../kernel/fire.ts";
import { tidyGates } from "../kernel/gates.ts";
import { lookAtParents } from "../kernel/join.ts";
import { keepSchedules } from "../kernel/keep-schedules.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { lookAtCallbacks } from "../kernel/receive.ts";
import { releaseParked } from "../kernel/release.ts";
import { reportLapsed } from "../kernel/report.ts";
import { promote } from "../kernel/take.ts";
import { tidy } from "../kernel/tidy.ts";
import { tidyWorkers } from "../kernel/workers.ts";

/** What one round of maintenance did. */
export interface Round extends Fired {
  readonly lapsed: number;
  readonly promoted: number;
  readonly released: number;
  /** Ticks of schedules that were run. */
  readonly ticks: number;
  readonly joined: number;
  /** Instances for which something had come that nobody had looked at. */
  readonly matched: number;
}

const pageSize = 500;

/**
 * One round: gives back the tasks of silent workers, readies what was scheduled, fires what is due, looks at callbacks that
 * were left alone, releases what is parked, looks at parents, runs schedules, sums up counts.
 */
export async function maintain(kernel: Kernel, lanes: readonly string[]): Promise<Round> {
  const lapsed = await reportLapsed(kernel, lanes, pageSize);
  const promoted = await promote(kernel, lanes, pageSize);
  const fired = await fire(kernel, pageSize);
  const { looked: matched, failures: unmatched } = await lookAtCallbacks(kernel, pageSize);
  const released = await releaseParked(kernel);
  const { joined, failures: unjoined } = await lookAtParents(kernel, pageSize);
  const { ticks, failures } = await keepSchedules(kernel);
  const undone = (await Promise.all(kernel.chores.map((chore) => chore(kernel)))).flat();
  await tidy(kernel);
  await tidyGates(kernel, lanes);
  await tidyWorkers(kernel);
  await tidyBreakers(kernel);
  await tidyTokens(kernel);
  return {
    lapsed,
    promoted,
    released,
    joined,
    ticks,
    matched,
    ...fired,
    failures: [...fired.failures, ...unmatched, ...unjoined, ...failures, ...undone],
  };
}
