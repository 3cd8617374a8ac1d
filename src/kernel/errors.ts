import { broken, isPawlError, messageOf, PawlError } from "../base/errors.ts";
import { asSentence } from "../base/text.ts";
import type { Refusal } from "../definition/decide/decide.ts";
import type { InstanceModel } from "../definition/decide/instance.ts";
import type { LifecycleModel } from "../definition/model.ts";
import type { InstanceRow } from "../store/move/instances.ts";
import { sqlState, translate } from "../store/port/failures.ts";
import type { Send } from "./types/send.ts";

/** An instance as a sentence names it. */
export function nameOf(row: InstanceRow): string {
  return row.key === null ? `\`${row.lifecycle}\` ${row.id}` : `\`${row.lifecycle}\` "${row.key}"`;
}

/** There is no such instance. */
export function unknownInstance(send: Pick<Send, "event" | "lifecycle" | "ref">): PawlError {
  const which = "id" in send.ref ? `the id ${send.ref.id}` : `the key "${send.ref.key}"`;
  return new PawlError(
    "instance_unknown",
    `\`${send.event}\` was sent to a \`${send.lifecycle.name}\` with ${which}, and there is none. Start it first, or correct the ${"id" in send.ref ? "id" : "key"}.`,
    { lifecycle: send.lifecycle.name, ...send.ref },
  );
}

/** An instance at the time of a decision. */
interface Decided {
  readonly lifecycle: LifecycleModel;
  readonly row: InstanceRow;
  readonly instance: InstanceModel;
}

/** An event that its instance refused, with every blocker. */
export function refusedError(update: Decided, send: Pick<Send, "event">, refusal: Refusal): PawlError {
  const { blockers } = refusal;
  if (blockers.every((one) => one.kind === "payload")) {
    return payloadInvalid(
      update.lifecycle,
      send.event,
      blockers.map((one) => one.reason),
    );
  }
  const details = {
    lifecycle: update.lifecycle.name,
    id: update.row.id,
    state: update.instance.state,
    event: send.event,
    blockers,
  };
  if (blockers.some((one) => one.kind === "unknown_event")) {
    const known = update.lifecycle
      .eventsFrom(update.instance.state)
      .map((event) => `\`${event}\``)
      .join(", ");
    return new PawlError(
      "event_unknown",
      `\`${update.lifecycle.name}\` has no event \`${send.event}\`; from \`${update.instance.state}\` it takes ${known || "none"}.`,
      details,
    );
  }
  const reasons = blockers.map((one) => one.reason).join("; ");
  return new PawlError(
    "transition_refused",
    `\`${send.event}\` was refused by ${nameOf(update.row)} in \`${update.instance.state}\`: ${reasons}.`,
    details,
  );
}

/**
 * Whether its author has to fix it, whatever the data: an event without an edge, a function of the definition that
 * throws.
 */
export function isDefinitionFault(error: unknown): error is PawlError {
  if (!isPawlError(error)) return false;
  if (error.code !== "transition_refused") return faultCodes.includes(error.code);
  const { blockers } = error.details as { blockers?: Refusal["blockers"] };
  return blockers?.every((one) => one.kind === "no_edge") === true;
}

const faultCodes: readonly string[] = ["event_unknown", "guard_failed", "set_failed", "schema_async"];

export function payloadInvalid(lifecycle: LifecycleModel, event: string, faults: readonly string[]): PawlError {
  return new PawlError(
    "payload_invalid",
    `\`${event}\` was not sent to \`${lifecycle.name}\`: its payload ${faults.join("; ")}.`,
    { event, faults },
  );
}

/** What one element of a list failed of, with its place: nothing of the list was written. */
export function itemInvalid(thrown: unknown, index: number): PawlError {
  const error = asPawlError(thrown);
  const message = `Item ${index} of the list: ${error.message} Nothing of the list was written.`;
  return new PawlError(error.code, message, { ...error.details, index }, { cause: error });
}

/** Converts any thrown value to an error with a code. */
export function asPawlError(thrown: unknown): PawlError {
  if (thrown instanceof PawlError) return thrown;
  if (sqlState(thrown) !== undefined) return translate(thrown, "running");
  return broken(asSentence(`Internal error: ${messageOf(thrown)}`), { thrown });
}
