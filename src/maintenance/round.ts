import { isPawlError, messageOf, PawlError } from "../base/errors.ts";
import { tidyBreakers } from "../kernel/breakers/breakers.ts";
import { matchDueCallbacks } from "../kernel/callbacks/receive.ts";
import { tidyRejections } from "../kernel/callbacks/rejections.ts";
import { tidyTokens } from "../kernel/callbacks/tokens.ts";
import { asPawlError } from "../kernel/errors.ts";
import { checkParents } from "../kernel/family/check-parents.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { tidyGates } from "../kernel/lanes/gates.ts";
import { watchClock } from "../kernel/maintenance/clock-set-back.ts";
import { rollUpStateCounts } from "../kernel/maintenance/roll-up-counts.ts";
import { type FiredTimers, fireTimers } from "../kernel/move/fire-timers.ts";
import { releaseParked } from "../kernel/move/release.ts";
import { promoteScheduled } from "../kernel/tasks/claim.ts";
import { reportLapsed } from "../kernel/tasks/report-lapsed.ts";
import { tidyWorkers } from "../kernel/tasks/workers.ts";
import { runSchedules } from "../schedules/run-schedules.ts";

/** What one round of maintenance did. */
export interface Round extends FiredTimers {
  readonly lapsed: number;
  readonly promoted: number;
  readonly released: number;
  /** Ticks of schedules that were run. */
  readonly ticks: number;
  readonly joined: number;
  /** Instances with callbacks that were not applied. */
  readonly matched: number;
}

const pageSize = 500;

/**
 * One round: returns the tasks of silent workers, readies scheduled tasks, fires due timers, matches orphaned
 * callbacks, releases parked instances, checks parents, runs schedules, sums up counts. Each part runs whatever the
 * result of the one before it; errors are in `failures`. Throws only when the database is unreachable.
 */
export async function maintain(kernel: Kernel, lanes: readonly string[]): Promise<Round> {
  const { run, failures } = partsOfRound();
  await run("watch the database's clock", () => watchClock(kernel), false);
  const lapsed = await run("reclaim lapsed leases", () => reportLapsed(kernel, lanes, pageSize), {
    returned: 0,
    failures: [],
  });
  const promoted = await run("ready scheduled tasks", () => promoteScheduled(kernel, lanes, pageSize), 0);
  const fired = await run("fire timers", () => fireTimers(kernel, pageSize), { fired: 0, newer: 0, failures: [] });
  const callbacks = await run("match callbacks", () => matchDueCallbacks(kernel, pageSize), {
    looked: 0,
    failures: [],
  });
  const parked = await run("release parked instances", () => releaseParked(kernel), { released: 0, failures: [] });
  const parents = await run("check joins and questions", () => checkParents(kernel, pageSize), {
    joined: 0,
    made: 0,
    failures: [],
  });
  const schedules = await run("run schedules", () => runSchedules(kernel), { ticks: 0, failures: [] });
  for (const chore of kernel.chores) failures.push(...(await run(chore.name, () => chore.round(kernel), [])));
  await run("sum up counts", () => rollUpStateCounts(kernel), 0);
  await run("tidy gates", () => tidyGates(kernel, lanes), undefined);
  await run("tidy workers", () => tidyWorkers(kernel), undefined);
  await run("tidy breakers", () => tidyBreakers(kernel), undefined);
  await run("tidy callback tokens", () => tidyTokens(kernel), 0);
  await run("tidy rejected messages", () => tidyRejections(kernel), 0);
  return {
    lapsed: lapsed.returned,
    promoted,
    released: parked.released,
    joined: parents.joined,
    ticks: schedules.ticks,
    matched: callbacks.looked,
    fired: fired.fired,
    newer: fired.newer,
    failures: [
      ...lapsed.failures,
      ...fired.failures,
      ...callbacks.failures,
      ...parked.failures,
      ...parents.failures,
      ...schedules.failures,
      ...failures,
    ],
  };
}

/** Runs the parts of one round, each in its own `try`. */
function partsOfRound() {
  const failures: { id: string; error: unknown }[] = [];
  const run = async <Done>(part: string, work: () => Promise<Done>, otherwise: NoInfer<Done>): Promise<Done> => {
    try {
      return await work();
    } catch (thrown) {
      // Without a database every part would wait for it in turn: the round ends here, and the next one starts over.
      if (isPawlError(thrown, "database_unreachable") || isPawlError(thrown, "closed")) throw thrown;
      failures.push({ id: part, error: partFailed(part, thrown) });
      return otherwise;
    }
  };
  return { run, failures };
}

function partFailed(part: string, thrown: unknown): PawlError {
  const { code, details } = asPawlError(thrown);
  const message = `Maintenance could not ${part}: ${messageOf(thrown)} The next round tries it again.`;
  return new PawlError(code, message, { ...details, part }, { cause: thrown });
}
