import { readUndeliveredAlerts } from "../alerts/views/alerts.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { lanesOf } from "../kernel/lanes/lanes.ts";
import { readOutboxLag } from "../outbox/views/outbox.ts";
import type { Readings } from "../telemetry/catalogue.ts";
import { listBreakers } from "../views/tasks/breakers.ts";
import { countInstances } from "./counts.ts";
import type { StuckReason } from "./explain/explanation.ts";
import { findStuck, stuckReasons, summary } from "./stuck/find-stuck.ts";
import type { StuckGroup } from "./stuck/stuck-group.ts";
import { readLaneAges, readScheduleLags } from "./views/gauges.ts";

const levels = { closed: 0, half_open: 1, open: 2 };

/** Gauges that only the database knows, read on each scrape. While it does not answer, only that is reported. */
export async function readGauges(kernel: Kernel): Promise<Readings["values"]> {
  const { db } = kernel;
  try {
    const counts = await countInstances(kernel, [...kernel.lifecycles.keys()]);
    const ages = await readLaneAges(db, await lanesOf(kernel));
    const outbox = await readOutboxLag(db);
    const lags = await readScheduleLags(db, [...kernel.timetable.entries.keys()]);
    const breakers = await listBreakers(db);
    const alerts = await readUndeliveredAlerts(db);
    const stuck = await findStuck(kernel, summary);
    return {
      database_up: [{ labels: {}, value: 1 }],
      instances_stuck: stuckReasons.map((reason) => ({ labels: { reason }, value: countOf(stuck, reason) })),
      instances: counts.map(({ lifecycle, state, instances }) => ({ labels: { lifecycle, state }, value: instances })),
      lane_oldest_ready_seconds: ages.map(({ lane, seconds }) => ({ labels: { lane }, value: seconds })),
      outbox_pending: [{ labels: {}, value: outbox.pending }],
      outbox_dead: [{ labels: {}, value: outbox.dead }],
      outbox_oldest_pending_seconds: [{ labels: {}, value: (outbox.oldest_age_ms ?? 0) / 1_000 }],
      alerts_oldest_undelivered_seconds: [{ labels: {}, value: (alerts.oldest_age_ms ?? 0) / 1_000 }],
      schedule_lag_seconds: lags.map(({ name, seconds }) => ({ labels: { schedule: name }, value: seconds })),
      breaker_state: breakers.map(({ name, state }) => ({ labels: { breaker: name }, value: levels[state] })),
    };
  } catch {
    return { database_up: [{ labels: {}, value: 0 }] };
  }
}

function countOf(groups: readonly StuckGroup[], reason: StuckReason): number {
  return groups.reduce((sum, group) => sum + (group.reason === reason ? group.count : 0), 0);
}

/** All metrics: of this process since its start, and of the database at present. */
export async function readAll(kernel: Kernel): Promise<Readings> {
  const own = kernel.telemetry.meters.read();
  return { ...own, values: { ...own.values, ...(await readGauges(kernel)) } };
}
