import { messageOf } from "../base/errors.ts";
import { cleanText } from "../base/json.ts";
import { PermanentError } from "../base/step-errors.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { AlertKind } from "../kernel/recovery/alert-of-dead-letter.ts";
import { settleWithin } from "../kernel/time-limit.ts";
import { exponential } from "../policy/retry.ts";
import type { Alert, AlertSink } from "./sink.ts";
import {
  type ClaimedAlert,
  claimAlerts,
  declareSinks,
  markDelivered,
  pruneAlerts,
  settleAbandoned,
} from "./store/alerts.ts";

const pauses = exponential({ first: "5s", factor: 2, cap: "1h", jitter: 0.2 });
/** About a day and a half. */
const maxAttempts = 40;
const patienceMs = 60_000;
const batchSize = 20;
/** Longer than any sink takes. */
const heldMs = 120_000;
/** A sink that no process has declared for so long is not waited for. */
const aliveMs = 86_400_000;
const declareEveryMs = 10 * 60_000;
const retentionMs = 30 * 86_400_000;

/** Delivers due alerts to the sinks that have not received them; returns the number of alerts. */
export async function deliverAlerts(kernel: Kernel, sinks: readonly AlertSink[]): Promise<number> {
  if (sinks.length === 0) return 0;
  const names = sinks.map((sink) => sink.name);
  const due = await claimDueAlerts(kernel, names);
  await Promise.all(due.map((one) => deliver(kernel, sinks, one)));
  if (due.length === 0) {
    await settleAbandoned(kernel.db, aliveMs, 500);
    await pruneAlerts(kernel.db, retentionMs, 500);
  }
  return due.length;
}

/** Alerts to be delivered now to one of these sinks, which are declared with it. */
export async function claimDueAlerts({ db }: Kernel, sinks: readonly string[]): Promise<ClaimedAlert[]> {
  await declareSinks(db, sinks, declareEveryMs);
  return claimAlerts(db, sinks, { limit: batchSize, heldMs });
}

async function deliver(kernel: Kernel, sinks: readonly AlertSink[], taken: ClaimedAlert): Promise<void> {
  const alert = alertOf(taken);
  const left = sinks.filter((sink) => !taken.received.includes(sink.name));
  const results = await Promise.allSettled(left.map((sink) => settleWithin(patienceMs, "It", () => sink.send(alert))));
  const received = [...taken.received];
  const errors: string[] = [];
  let isOver = true;
  const isLast = taken.attempts >= maxAttempts;
  for (const [index, result] of results.entries()) {
    const { name } = left[index]!;
    if (result.status === "fulfilled") received.push(name);
    else {
      errors.push(`${name}: ${messageOf(result.reason)}`);
      if (isLast || result.reason instanceof PermanentError) received.push(name);
      else isOver = false;
    }
  }
  const error = errors.length === 0 ? null : cleanText(errors.join("; "), 1_000);
  if (error !== null)
    kernel.telemetry.log.warn({ alert: alert.id, attempts: taken.attempts }, `Alert delivery failed: ${error}`);
  // Sinks of other processes may not have received it yet.
  const retryAfterMs = isOver ? 0 : pauses(taken.attempts, Math.random());
  await markDelivered(kernel.db, { id: taken.id, attempts: taken.attempts, received, error, retryAfterMs }, aliveMs);
}

function alertOf(taken: ClaimedAlert): Alert {
  return {
    id: taken.id,
    cause: taken.cause,
    kind: taken.kind as AlertKind,
    lifecycle: taken.lifecycle,
    instanceId: taken.instance_id,
    key: taken.key,
    message: taken.message,
    details: taken.details as Alert["details"],
    at: new Date(taken.at_ms),
  };
}
