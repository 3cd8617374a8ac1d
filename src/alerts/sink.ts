import { PawlError } from "../base/errors.ts";
import type { AlertKind } from "../kernel/recovery/alert-of-dead-letter.ts";

/** An alert. One is raised for each cause, and each sink receives it at least once. */
export interface Alert {
  /** Stays the same when the alert is delivered again. */
  readonly id: string;
  /** The cause of the alert; unique among alerts. */
  readonly cause: string;
  readonly kind: AlertKind;
  /** The lifecycle; `pawl` for an alert that belongs to none. */
  readonly lifecycle: string;
  /** Null for an alert that belongs to no instance. */
  readonly instanceId: string | null;
  readonly key: string | null;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly at: Date;
}

/** Receives alerts. If `send` throws, the alert is delivered again later, unless the error is a `PermanentError`. */
export interface AlertSink {
  /** Identifies the sink in the record of deliveries; unique among the sinks of a process. */
  readonly name: string;
  send(alert: Alert): unknown;
  close?(): unknown;
}

/** A sink, or a function that delivers an alert, for example by mail or chat. */
export type AlertTarget = AlertSink | ((alert: Alert) => unknown);

/** Validates the sinks of a process; throws `option_invalid`. */
export function sinksOf(given: unknown): readonly AlertSink[] {
  if (given === undefined) return [];
  if (!Array.isArray(given))
    throw invalid("`alerts` must be a list of sinks: webhookAlerts(…), logAlerts(…), functions.");
  const sinks = given.map((one: unknown, place) => sinkOf(one, place));
  const names = new Set(sinks.map((one) => one.name));
  if (names.size < sinks.length) throw invalid("Two `alerts` have the same name. Give each a unique name.");
  return sinks;
}

function sinkOf(given: unknown, place: number): AlertSink {
  if (typeof given === "function") {
    return { name: `${given.name || "function"}#${place}`, send: (alert) => given(alert) as unknown };
  }
  const { name, send } = (given ?? {}) as Partial<AlertSink>;
  if (typeof name === "string" && name !== "" && typeof send === "function") return given as AlertSink;
  throw invalid("Each of the `alerts` must be a function, or a sink with `name` and `send`.");
}

function invalid(message: string): PawlError {
  return new PawlError("option_invalid", message);
}
