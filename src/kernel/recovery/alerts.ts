import { cleanText } from "../../base/json.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import type { Executor } from "../../store/port/db.ts";
import { type AlertRow, insertAlert } from "../../store/recovery/alerts.ts";
import type { InstanceUpdate } from "../commit/instance-update.ts";
import type { Kernel } from "../kernel.ts";
import { alertsTopic } from "../signals/signals.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";
import type { AlertKind } from "./alert-of-dead-letter.ts";

/** Alerts the author once to a step that contradicts its definition. */
export async function raiseFault(
  kernel: Kernel,
  task: ClaimedTask,
  error: { code: string; message: string },
): Promise<void> {
  const { name, version } = task.lifecycle;
  const { state } = task.row;
  const row: AlertRow = {
    id: kernel.newId(),
    cause: `definition:${name}@${version}/${state}:${error.code}`,
    kind: "definition_faulty",
    lifecycle: name,
    instanceId: null,
    key: null,
    message: cleanText(
      `A step of ${name}@${version}/${state} ended in a way that its definition does not allow: ${error.message}`,
      1_000,
    ),
    detailsText: JSON.stringify({ state, version, code: error.code, instance: task.row.id }),
  };
  if (await insertAlert(kernel.db, row)) kernel.signals.hint(alertsTopic);
}

/** Raises an alert that is about no instance, once per cause; false if it was raised before. */
export function raiseAlert(kernel: Kernel, alert: AlertAboutPawl): Promise<boolean> {
  return raiseAlertIn(kernel, kernel.db, alert);
}

/** An alert that is about no instance. */
interface AlertAboutPawl {
  readonly kind: AlertKind;
  readonly cause: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** The same within a transaction. */
export async function raiseAlertIn(kernel: Kernel, db: Executor, alert: AlertAboutPawl): Promise<boolean> {
  const { kind, cause, message, details } = alert;
  const about = { lifecycle: "pawl", instanceId: null, key: null };
  const row = { id: kernel.newId(), cause, kind, ...about, message: cleanText(message, 1_000) };
  const isNew = await insertAlert(db, { ...row, detailsText: JSON.stringify(details) });
  if (isNew) kernel.signals.hint(alertsTopic);
  return isNew;
}

/** Where a log can be filtered for what people have to act on. */
const errorChannel = "state-machine-errors";

function logged({ name }: LifecycleModel, details: { readonly reason?: string }, message: string): string {
  return details.reason === "recovery_exhausted"
    ? `Max retries exceeded for failed ${name} processing: ${message}`
    : message;
}

/**
 * A log line in the process in which the instance failed permanently, at once and with all details; and a hint for the
 * process that delivers alerts.
 */
export function announceAlerts(kernel: Kernel, { alerts, failedMove, isFenced, lifecycle }: InstanceUpdate): void {
  kernel.signals.hint(alertsTopic);
  // The last failure of a step is logged with its report, and the caller of `fail` knows about it.
  const isKnown = (isFenced || failedMove?.origin.source === "call") && lifecycle.recovery === undefined;
  for (const { kind, instanceId, key, message, detailsText } of alerts) {
    if (isKnown && (kind === "instance_failed" || kind === "recovery_failed")) continue;
    const details = JSON.parse(detailsText) as { readonly reason?: string };
    const fields = { alert: kind, lifecycle: lifecycle.name, instance: instanceId, key, ...details };
    kernel.telemetry.log.error({ channel: errorChannel, ...fields }, logged(lifecycle, details, message));
  }
}
