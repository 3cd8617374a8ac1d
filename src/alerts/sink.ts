import { PawlError } from "../base/errors.ts";
import type { AlertKind } from "../kernel/recovery/alert-of-dead-letter.ts";

/** Something that people are told, once a cause: exactly one is raised, and each sink hears it at least once. */
export interface Alert {
  /** The same whenever it is told again. */
  readonly id: string;
  /** What it comes from; no two alerts have the same. */
  readonly cause: string;
  readonly kind: AlertKind;
  /** The lifecycle that it is about; `pawl` when it is about none. */
  readonly lifecycle: string;
  /** Null when it is about no instance. */
  readonly instanceId: string | null;
  readonly key: string | null;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly at: Date;
}

/** Who is told. A throw means that it was not heard: it is told again later, unless it is a `PermanentError`. */
export interface AlertSink {
  /** By which it is known who has heard an alert; unique among the sinks of a process. */
  readonly name: string;
  send(alert: Alert): unknown;
  close?(): unknown;
}

/** A sink, or a function that tells it: a mail, a message in a chat. */
export type AlertTarget = AlertSink | ((alert: Alert) => unknown);

/** The sinks of a process; throws `option_invalid` for what is none. */
export function sinksOf(given: unknown): readonly AlertSink[] {
  if (given === undefined) return [];
  if (!Array.isArray(given))
    throw invalid("`alerts` must be a list of sinks: webhookAlerts(…), logAlerts(…), functions.");
  const sinks = given.map((one: unknown, place) => sinkOf(one, place));
  const names = new Set(sinks.map((one) => one.name));
  if (names.size < sinks.length) throw invalid("Two of the `alerts` have the same name; give each its own.");
  return sinks;
}

function sinkOf(given: unknown, place: number): AlertSink {
  if (typeof given === "function") {
    return { name: `${given.name || "function"}#${place}`, send: (alert) => given(alert) as unknown };
  }
  const { name, send } = (given ?? {}) as Partial<AlertSink>;
  if (typeof name === "string" && name !== "" && typeof send === "function") return given as AlertSink;
  throw invalid("One of the `alerts` is neither a function nor a sink with `name` and `send`.");
}

function invalid(message: string): PawlError {
  return new PawlError("option_invalid", message);
}
