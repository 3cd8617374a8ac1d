import { durationMs } from "../../base/duration.ts";
import { dateOf } from "../../base/moment.ts";
import { asSentence } from "../../base/text.ts";
import { shownTime, timesOf } from "../../definition/decide/explain.ts";
import { builtInEvents } from "../../definition/model.ts";
import { maxChildren } from "../views/waits.ts";
import type { WaitingFor } from "./explanation.ts";
import { enteredAt, type KnownInstance } from "./known-instance.ts";
import { endOf } from "./timer-waits.ts";

/** What Pawl itself sends is no event to wait for. */
const ofPawl = new Set<string>([...builtInEvents, "joined", "answered", "unanswered"]);

export function eventsWait(known: KnownInstance): WaitingFor[] {
  const { lifecycle, state } = known;
  // A sample that is handed out waits for people.
  if (known.sample !== undefined && state === "open") return [];
  const names = (lifecycle?.eventsFrom(state) ?? []).filter((name) => !ofPawl.has(name));
  const end = endOf(known);
  const what = names.length === 0 ? "an event" : oneOf(names.map((name) => `\`${name}\``));
  const sentence =
    end === null
      ? `It waits for ${what}${endless(known)}`
      : `It waits for ${what}. At ${shownTime(end.at)} its ${end.timer} sends \`${end.event}\`.`;
  const forever = known.model?.forever === true;
  const base = { since: enteredAt(known), until: end?.at ?? null, by: "outside", sentence } as const;
  return [{ kind: "events", events: names, end, forever, ...base }];
}

/** Why no timer ends a wait for events. */
function endless({ model, waits }: KnownInstance): string {
  const refused = waits.refused_event;
  if (refused !== null) return `. No timeout is left: the instance refused \`${refused}\`.`;
  return model?.forever === true ? ", without a time limit (`forever`)." : ". No timeout ends this wait.";
}

/** Names as one phrase: `a`, `b` or `c`. */
export function oneOf(names: readonly string[]): string {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

export function releaseWait(known: KnownInstance): WaitingFor {
  const { model, waits } = known;
  const failure = waits.release_failure;
  const event = model?.release?.send ?? null;
  const givenUp = failure !== null && failure.retry_ms === null;
  const interval = model?.release?.interval;
  const firstMs = interval === undefined ? null : enteredAt(known).getTime() + durationMs(interval, "release.interval");
  const turnMs = waits.release_ms ?? firstMs;
  // One that failed rests, and then has to wait for the next turn of its state.
  const againMs = givenUp ? null : Math.max(failure?.retry_ms ?? 0, turnMs ?? 0) || null;
  const untilMs = failure === null ? turnMs : againMs;
  const until = dateOf(untilMs);
  const sends = event === null ? "" : ` and sends \`${event}\``;
  const when =
    until === null ? "No further release is scheduled." : `Its next release is at ${shownTime(until)}${sends}.`;
  const how = failure?.what === "refused" ? "refused the release" : "failed to be released";
  const last = failure?.what === "refused" ? "Last reason" : "Last error";
  const past =
    failure === null ? "" : asSentence(` It ${how} ${timesOf(failure.attempts)}. ${last}: ${failure.reason}`);
  return {
    kind: "release",
    event,
    failures: failure?.attempts ?? 0,
    lastFailure: failure === null ? null : { what: failure.what, reason: failure.reason },
    since: enteredAt(known),
    until,
    by: givenUp ? "person" : "clock",
    sentence: `${when}${past}`,
  };
}

export function childrenWait(known: KnownInstance): WaitingFor {
  const { waits, model } = known;
  const { children_open: open, children_failed: failed, children: first } = waits;
  const base = { kind: "children", open, failed, first, since: enteredAt(known), until: null } as const;
  if (open > 0) {
    const count = open >= maxChildren ? `${maxChildren.toLocaleString("en")} or more` : String(open);
    const named = first.slice(0, 3).map(({ lifecycle, key, id, state }) => {
      return `\`${lifecycle}\` ${key === null ? id : `"${key}"`} in \`${state}\``;
    });
    const more = open > named.length ? ", …" : "";
    const sentence = `It waits for ${count} open ${open === 1 ? "child" : "children"}: ${named.join(", ")}${more}.`;
    return { ...base, by: "worker", sentence };
  }
  if (model?.join?.failed === "wait" && failed > 0) {
    const subject = failed === 1 ? "One of its children has failed" : `${failed} of its children have failed`;
    const sentence = `${subject}. Its join waits until they are recovered or discarded.`;
    return { ...base, by: "person", sentence };
  }
  if (waits.refused_event !== null) {
    const sentence = `All its children have ended, but it refused \`${waits.refused_event}\`.`;
    return { ...base, by: "person", sentence };
  }
  const isSent = waits.has_check || waits.timers.some(({ event }) => event === "joined");
  if (!isSent && waits.letters.some(({ status }) => status === "open"))
    return { ...base, by: "person", sentence: "All its children have ended, but `joined` failed for good." };
  return { ...base, by: "clock", sentence: "All its children have ended, and maintenance sends `joined`." };
}
