import { cleanText } from "../../base/json.ts";
import { isInternal } from "../../definition/internal.ts";
import type { Kernel, MaintenanceDuty } from "../../kernel/kernel.ts";
import { alertsTopic } from "../../kernel/signals/signals.ts";
import { claimSweep } from "../../store/move/sweeps.ts";
import type { StuckReason } from "../explain/explanation.ts";
import { recordCauses } from "../store/stuck-causes.ts";
import { findStuck, summary } from "./find-stuck.ts";
import type { StuckGroup } from "./stuck-group.ts";

/** The interval of the check, over all processes. */
const everyMs = 30_000;
/** A cause that comes and goes within this time counts as one. */
const resolvedMs = 5 * 60_000;
const forgottenMs = 86_400_000;
const turn = { lifecycle: "pawl", state: "stuck instances" };

/** Reasons with alerts of their own, raised when they happen. */
const alertedElsewhere: ReadonlySet<StuckReason> = new Set([
  "dead_letter",
  "definition_fault",
  "event_refused",
  "release_refused",
  "unassignable",
]);

/** The part of maintenance that raises alerts for stuck instances: once per cause, until it is resolved. */
export function stuckReporter(): MaintenanceDuty {
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  return {
    name: "report stuck instances",
    async round(kernel) {
      // A clock that was set back is no reason to wait.
      if (Math.abs(kernel.clock.nowMs() - lookedAtMs) < everyMs) return [];
      lookedAtMs = kernel.clock.nowMs();
      if ((await claimSweep(kernel.db, turn, everyMs)) !== undefined) await reportStuck(kernel);
      return [];
    },
  };
}

/** Raises alerts for new causes of stuck instances; returns how many. */
export async function reportStuck(kernel: Kernel): Promise<number> {
  const groups = (await findStuck(kernel, summary)).filter(({ reason }) => !alertedElsewhere.has(reason));
  const causes = groups.map((group) => ({
    cause: causeOf(group),
    lifecycle: isInternal(group.lifecycle) ? "pawl" : group.lifecycle,
    alertId: kernel.newId(),
    message: cleanText(group.sentence, 1_000),
    detailsText: JSON.stringify(detailsOf(group)),
  }));
  const lifecycles = ["pawl", ...kernel.lifecycles.keys()];
  const added = new Set(await recordCauses(kernel.db, causes, { lifecycles, resolvedMs, forgottenMs }));
  if (added.size === 0) return 0;
  kernel.signals.hint(alertsTopic);
  for (const group of groups) {
    if (!added.has(causeOf(group))) continue;
    const { lifecycle } = group;
    kernel.telemetry.log.error({ alert: "instances_stuck", lifecycle, ...detailsOf(group) }, group.sentence);
  }
  return added.size;
}

function causeOf({ reason, lifecycle, lane, state, queue }: StuckGroup): string {
  return `stuck:${reason}:${lane ?? queue ?? `${lifecycle}/${state}`}`;
}

function detailsOf({ reason, lane, state, queue, count, more, since, instances }: StuckGroup) {
  return {
    reason,
    lane,
    state,
    queue,
    count,
    more,
    since: since.toISOString(),
    instances: instances.map(({ id }) => id),
  };
}
