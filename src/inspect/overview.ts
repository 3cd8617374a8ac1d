import { readUndeliveredAlerts } from "../alerts/views/alerts.ts";
import { isInternal } from "../definition/internal.ts";
import { discarded, type LifecycleModel } from "../definition/model.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { lanesOf } from "../kernel/lanes/lanes.ts";
import { listWorkers } from "../kernel/tasks/workers.ts";
import { readOutboxLag } from "../outbox/views/outbox.ts";
import { listSchedules } from "../schedules/views/schedules.ts";
import { readPauses } from "../store/tasks/pauses.ts";
import { listBreakers } from "../views/tasks/breakers.ts";
import { attentionOf, type Need } from "./attention.ts";
import { countInstances } from "./counts.ts";
import { findStuck, summary } from "./stuck/find-stuck.ts";
import { readLaneAges } from "./views/gauges.ts";
import { readWaiting } from "./views/overview.ts";
import { readVersions, type VersionRow } from "./views/versions.ts";

/** The overview of a Pawl, in a few numbers. */
export interface Overview {
  readonly at: Date;
  /** Open instances, and the counts of the others by category, without samples and crowd jobs. */
  readonly inFlight: number;
  readonly done: number;
  /** Ended in a failure, or failed and not recovered yet. */
  readonly failed: number;
  readonly discarded: number;
  readonly deadLetters: number;
  /** How long the longest waiting task has been ready, in milliseconds; null when none is. */
  readonly oldestReadyMs: number | null;
  readonly openBreakers: number;
  /** Samples that wait in queues to be assigned. */
  readonly peopleWaiting: number;
  readonly workers: { readonly alive: number; readonly silent: number };
  readonly outbox: { readonly pending: number; readonly dead: number; readonly oldestMs: number | null };
  /** The problems that a person should look into, the worst first. */
  readonly needs: readonly Need[];
}

/** Reads the overview from small tables, heads of indexes and sums of deltas, for any amount of data. */
export async function showOverview(kernel: Kernel): Promise<Overview> {
  const { db } = kernel;
  const own = [...kernel.lifecycles.values()].filter(({ name }) => !isInternal(name));
  const totals = totalsOf(
    own,
    await countInstances(
      kernel,
      own.map(({ name }) => name),
    ),
  );
  const ages = (await readLaneAges(db, await lanesOf(kernel))).toSorted((one, other) => other.seconds - one.seconds);
  const waiting = await readWaiting(db);
  const outbox = await readOutboxLag(db);
  const alerts = await readUndeliveredAlerts(db);
  const breakers = (await listBreakers(db)).filter(({ state }) => state !== "closed");
  const workers = await listWorkers(kernel);
  const pauses = await readPauses(db);
  const schedules = await listSchedules(db);
  const stuck = await findStuck(kernel, summary);
  const oldest = ages[0];
  const isWaiting = oldest !== undefined && oldest.seconds > 0;
  return {
    at: new Date(waiting.now_ms),
    ...totals,
    deadLetters: waiting.dead_letters,
    oldestReadyMs: isWaiting ? oldest.seconds * 1_000 : null,
    openBreakers: breakers.length,
    peopleWaiting: waiting.samples,
    workers: {
      alive: workers.filter(({ silent }) => !silent).length,
      silent: workers.filter(({ silent }) => silent).length,
    },
    outbox: { pending: outbox.pending, dead: outbox.dead, oldestMs: outbox.oldest_age_ms },
    needs: attentionOf({
      oldest: isWaiting ? oldest : undefined,
      waiting,
      outbox,
      alerts,
      breakers,
      workers,
      pauses,
      schedules,
      stuck,
    }),
  };
}

type Totals = Pick<Overview, "inFlight" | "done" | "failed" | "discarded">;

/** The instance count of a state, and its category. */
export interface StandingCount {
  readonly lifecycle: string;
  readonly state: string;
  readonly instances: number;
  readonly comesTo: keyof Totals;
}

/** The data of a live view: instance counts by state, and the progress of the instances on screen. */
export async function readLiveCounts(
  kernel: Kernel,
  ids: readonly string[],
): Promise<{ readonly counts: readonly StandingCount[]; readonly instances: readonly VersionRow[] }> {
  const own = [...kernel.lifecycles.keys()].filter((name) => !isInternal(name));
  const counts = await countInstances(kernel, own);
  return {
    counts: counts.map((one) => ({
      ...one,
      comesTo: categoryOf(kernel.lifecycles.get(one.lifecycle), one.state),
    })),
    instances: ids.length === 0 ? [] : await readVersions(kernel.db, ids),
  };
}

function totalsOf(
  lifecycles: readonly LifecycleModel[],
  counts: readonly { lifecycle: string; state: string; instances: number }[],
): Totals {
  const totals = { inFlight: 0, done: 0, failed: 0, discarded: 0 };
  for (const { lifecycle, state, instances } of counts) {
    totals[
      categoryOf(
        lifecycles.find(({ name }) => name === lifecycle),
        state,
      )
    ] += instances;
  }
  return totals;
}

/** The category of a state, including states that only an earlier definition has. */
function categoryOf(lifecycle: LifecycleModel | undefined, name: string): keyof Totals {
  const state = lifecycle?.states.get(lifecycle.renamed[name] ?? name);
  if (state?.builtIn === true) return state.name === discarded ? "discarded" : "failed";
  if (state?.final === undefined) return "inFlight";
  return state.final === "success" ? "done" : "failed";
}
