import { cleanText } from "../../base/json.ts";
import { asSentence } from "../../base/text.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import type { AlertRow } from "../../store/recovery/alerts.ts";
import type { DeadLetterRow } from "../../store/recovery/dead-letters.ts";

/** The subject of an alert. */
export type AlertKind =
  /** An instance failed permanently: it does not recover by itself, or its failure was final. */
  | "instance_failed"
  /** A failed instance could not recover: its recovery was refused, or its reset failed. */
  | "recovery_failed"
  /** A delayed event, a timeout, a callback or a release could not be delivered: its guard or its `before` hook throws. */
  | "event_failed"
  /** A parked instance keeps refusing the event that releases it. */
  | "release_refused"
  /** An instance refused what would have ended its wait: a timeout, `joined`, or an answer. */
  | "event_refused"
  /** A definition does not allow the result of its own step: the author has to fix one of them. */
  | "definition_faulty"
  /** Samples of a queue are exhausted or unassignable. Once a queue, until a lead has dealt with all of them. */
  | "samples_given_up"
  /** Instances are stuck for a reason that has no alert of its own. Once a cause, until it is resolved. */
  | "instances_stuck"
  /** More work failed permanently in a day than usual. */
  | "many_dead_letters"
  /** Dead letters are kept past their retention, since they cannot be archived. */
  | "archive_failed"
  /** The database's clock was set back: what waits for a time may wait longer. */
  | "clock_set_back";

/** The alert of an instance that failed permanently: it has the cause of its dead letter, so it is raised once. */
export function alertOfLetter(
  id: string,
  kind: AlertKind,
  about: { readonly lifecycle: LifecycleModel; readonly key: string | null },
  letter: DeadLetterRow,
): AlertRow {
  const error = letter.errorText === null ? null : (JSON.parse(letter.errorText) as { name: string; message: string });
  const details = {
    reason: letter.reason,
    state: letter.origin,
    attempts: letter.attempts,
    error: error === null ? null : { name: error.name, message: error.message },
    deadLetter: letter.id,
    ...childIn(letter),
    ...(letter.detailsText === null ? {} : (JSON.parse(letter.detailsText) as object)),
  };
  return {
    id,
    cause: letter.cause,
    kind,
    lifecycle: about.lifecycle.name,
    instanceId: letter.instanceId,
    key: about.key,
    message: cleanText(sentenceOf(kind, about.key, letter, error), 1_000),
    detailsText: JSON.stringify(details),
  };
}

/** The child by which its parent failed, if that was why. */
function childIn({ payloadText }: DeadLetterRow): object {
  const payload = payloadText === null ? null : (JSON.parse(payloadText) as { child?: unknown } | null);
  return payload?.child === undefined ? {} : { child: payload.child };
}

function sentenceOf(
  kind: AlertKind,
  key: string | null,
  letter: DeadLetterRow,
  error: { name: string; message: string } | null,
): string {
  const name = key === null ? `${letter.lifecycle} ${letter.instanceId}` : `${letter.lifecycle} "${key}"`;
  const why = [letter.reason.replaceAll("_", " "), error === null ? null : `${error.name}: ${error.message}`];
  return asSentence(`${whatOf(kind, name, letter)}: ${why.filter((part) => part !== null).join("; ")}`);
}

function whatOf(kind: AlertKind, name: string, letter: DeadLetterRow): string {
  if (kind === "recovery_failed") return `${name}, which failed in ${letter.origin}, could not be recovered`;
  if (kind !== "event_failed") return `${name} failed in ${letter.origin} for good`;
  const { event, source } = JSON.parse(letter.detailsText!) as { event: string; source: string };
  return `${name} did not get the event ${event} (${source})`;
}
