import { asSentence } from "../../base/text.ts";
import { isEventAhead } from "../../definition/decide/events-ahead.ts";
import { shownTime } from "../../definition/decide/explain.ts";
import type { WaitingFor } from "./explanation.ts";
import { hasFailed, type KnownInstance } from "./known-instance.ts";
import { endOf } from "./timer-waits.ts";

/** Callback tokens that are valid: results that may arrive. */
export function callbackWaits(known: KnownInstance): WaitingFor[] {
  const until = endOf(known)?.at ?? null;
  return known.waits.tokens.map(({ event, tokens, issued_ms, expires_ms }) => {
    const expiresAt = new Date(expires_ms);
    const subject = tokens === 1 ? "A callback token" : `${tokens} callback tokens`;
    const sentence = `${subject} for \`${event}\` ${tokens === 1 ? "is" : "are"} valid until ${shownTime(expiresAt)}.`;
    return { kind: "callback", event, tokens, expiresAt, since: new Date(issued_ms), until, by: "outside", sentence };
  });
}

/** Results that arrived and that no state has accepted yet. */
export function resultWaits(known: KnownInstance): WaitingFor[] {
  const { lifecycle, row, state } = known;
  const from = hasFailed(known) ? (row.failed_from ?? state) : state;
  return known.waits.results.map(({ id, event, received_ms, due_ms, reason }) => {
    const reachable = lifecycle === undefined || isEventAhead(lifecycle, from, event);
    const since = new Date(received_ms);
    const arrived = `Result \`${event}\` arrived at ${shownTime(since)}`;
    const why = reason === null ? "" : asSentence(` Last refusal: ${reason}`);
    const base = { kind: "result", callback: id, event, reachable, since } as const;
    if (due_ms !== null) {
      const until = new Date(due_ms);
      return { ...base, until, by: "clock", sentence: `${arrived} and is processed at ${shownTime(until)}.${why}` };
    }
    if (reachable)
      return {
        ...base,
        until: null,
        by: "worker",
        sentence: `${arrived} and waits for a state that accepts it.${why}`,
      };
    return { ...base, until: null, by: "person", sentence: `${arrived}, but no reachable state accepts it.${why}` };
  });
}
