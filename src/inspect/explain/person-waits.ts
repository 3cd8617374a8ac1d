import { asSentence } from "../../base/text.ts";
import type { WaitingLetter } from "../views/waits.ts";
import type { WaitingFor } from "./explanation.ts";
import { enteredAt, hasFailed, type KnownInstance } from "./known-instance.ts";
import { oneOf } from "./state-waits.ts";
import { inBrackets } from "./task-waits.ts";
import { endOf } from "./timer-waits.ts";

/** The sample or crowd job of a state that asks, before maintenance has created it. */
export function questionWait(known: KnownInstance): WaitingFor {
  const sentence = "Maintenance has not created its sample or crowd job yet.";
  return { kind: "question", since: enteredAt(known), until: null, by: "clock", sentence };
}

/** Labels that people give. */
export function sampleWait(known: KnownInstance): WaitingFor[] {
  const { sample } = known;
  if (sample === undefined) return [];
  const { queue, id, needs, filled, held_by: heldBy, labelers, skills } = sample;
  return [
    {
      kind: "people",
      queue,
      sample: id,
      wanted: needs,
      given: filled,
      heldBy,
      labelers,
      skills,
      since: new Date(sample.since_ms),
      until: endOf(known)?.at ?? null,
      by: "person",
      sentence: sampleSentence(sample),
    },
  ];
}

function sampleSentence(sample: NonNullable<KnownInstance["sample"]>): string {
  const { queue, state, reason, needs, filled, held_by: heldBy, labelers, skills } = sample;
  if (state !== "open")
    return asSentence(`Its sample in queue \`${queue}\` is \`${state}\`${reason === null ? "" : `: ${reason}`}`);
  const who = labelers === null ? "every labeler" : oneOf(labelers);
  const skilled = skills.length === 0 ? "" : ` with ${skills.length === 1 ? "skill" : "skills"} ${skills.join(", ")}`;
  const held = heldBy.length === 0 ? "It is not assigned." : `It is assigned to ${heldBy.join(", ")}.`;
  const labels = `${needs} ${needs === 1 ? "label" : "labels"}`;
  return `It waits for labels in queue \`${queue}\`: it has ${filled} of ${labels}, and ${who}${skilled} may label it. ${held}`;
}

/** The crowd job that a state asks. */
export function crowdJobWait(known: KnownInstance): WaitingFor[] {
  const { waits, sample } = known;
  const job = waits.question;
  if (job === null || sample !== undefined) return [];
  const { lifecycle, id, state } = job;
  const sentence = `It waits for crowd job ${id}, which is in \`${state}\`.`;
  const until = endOf(known)?.at ?? null;
  return [{ kind: "crowd_job", lifecycle, job: id, state, since: enteredAt(known), until, by: "outside", sentence }];
}

/** Open dead letters; for a failed instance without one, what a person can send. */
export function personWaits(known: KnownInstance): WaitingFor[] {
  const { waits, row } = known;
  const open = waits.letters.filter((one) => one.status === "open").map(openLetter);
  if (open.length > 0 || !hasFailed(known) || waits.step !== null) return open;
  const decided = waits.letters.find((one) => one.kind === "instance");
  const base = {
    kind: "person",
    deadLetter: decided?.id ?? null,
    since: enteredAt(known),
    until: null,
    by: "person",
  } as const;
  const stays = "It stays failed until it receives `recover`, `restart` or `discard`.";
  if (decided !== undefined) {
    const by = decided.decided_by === null ? "" : ` by ${decided.decided_by}`;
    return [{ ...base, reason: decided.reason, sentence: `Its dead letter was ${decided.status}${by}. ${stays}` }];
  }
  if (row.parent_id !== null)
    return [
      { ...base, reason: "left_to_parent", sentence: `Its failure was left to its parent ${row.parent_id}. ${stays}` },
    ];
  return [{ ...base, reason: row.failure?.reason ?? "failed", sentence: stays }];
}

function openLetter(letter: WaitingLetter): WaitingFor {
  const { id, reason, created_ms } = letter;
  const sentence = `${whatFailed(letter)}${inBrackets(reason.replaceAll("_", " "))}. Dead letter ${id} is open.`;
  const since = new Date(created_ms);
  return { kind: "person", deadLetter: id, reason, since, until: null, by: "person", sentence };
}

function whatFailed({ kind, origin, event }: WaitingLetter): string {
  if (kind === "message") return `Message \`${origin}\` was not published`;
  if (kind === "broker") return `A message of \`${origin}\` was rejected`;
  if (event !== null) return `Event \`${event}\` was not delivered`;
  // The origin of an after-effect is its event, and that of a delivery its lane.
  if (kind === "effect" && origin.includes("@")) return "A delivery to other instances failed for good";
  if (kind === "effect") return `The after-effect of \`${origin}\` failed for good`;
  return `It failed in \`${origin}\` and is not retried`;
}
