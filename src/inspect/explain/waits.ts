import { type Duration, durationMs } from "../../base/duration.ts";
import { isEventAhead } from "../../definition/decide/events-ahead.ts";
import { ended, shownTime } from "../../definition/decide/explain.ts";
import { builtInEvents } from "../../definition/model.ts";
import { standardRetry } from "../../policy/retry.ts";
import { mostChildren, type WaitingLetter, type WaitingTask } from "../../views/waits.ts";
import type { WaitEnd, WaitingFor } from "./explanation.ts";
import { enteredAt, hasFailed, type KnownInstance } from "./known-instance.ts";
import { waitForTask } from "./task-waits.ts";

/** Everything that an instance waits for, what decides its way first. */
export function waitsOf(known: KnownInstance): WaitingFor[] {
  const isOpen = known.row.outcome === null;
  return [
    ...(isOpen ? [...newerDefinition(known), ...step(known), ...ofState(known)] : []),
    ...persons(known),
    ...(isOpen ? [...callbacks(known), ...results(known), ...timers(known)] : []),
    ...effects(known),
  ];
}

function newerDefinition(known: KnownInstance): WaitingFor[] {
  const { kernel, row, lifecycle } = known;
  if (lifecycle !== undefined) return [];
  const process = kernel.lifecycles.get(row.lifecycle)?.version ?? 0;
  const since = enteredAt(known);
  const sentence = `Version ${row.definition} of \`${row.lifecycle}\` moved it last, and this process has version ${process}: only processes with version ${row.definition} or newer move it.`;
  return [
    { kind: "newer_definition", definition: row.definition, process, since, until: null, by: "worker", sentence },
  ];
}

function step(known: KnownInstance): WaitingFor[] {
  const { waits, model, lifecycle, recovery } = known;
  const task = waits.step;
  if (task === null) return [];
  const { last_attempt: last, progress } = waits;
  const notClaimed = known.notClaimed.get(task.lane);
  if (hasFailed(known)) {
    const wait = waitForTask(task, { name: "Its recovery", notClaimed, maxAttempts: null, last, progress });
    const target = recovery?.retry?.kind === "planned" ? recovery.retry.moves.at(-1)!.to : null;
    return [{ kind: "recovery", target, ...wait }];
  }
  if (last?.reason === "definition" && task.worker === null) return [definitionFault(task, known)];
  const maxAttempts = lifecycle === undefined ? null : (model?.retry ?? standardRetry).maxAttempts;
  return [{ kind: "step", ...waitForTask(task, { name: "Its step", notClaimed, maxAttempts, last, progress }) }];
}

function definitionFault(task: WaitingTask, { waits }: KnownInstance): WaitingFor {
  const last = waits.last_attempt!;
  const error = last.error?.message ?? "unknown";
  const until = task.due_ms === null ? null : new Date(task.due_ms);
  const sentence = `Its step and its definition contradict each other, and a developer must change one of them: ${error}`;
  return {
    kind: "definition_fault",
    lane: task.lane,
    error,
    since: new Date(last.at_ms),
    until,
    by: "person",
    sentence,
  };
}

function ofState(known: KnownInstance): WaitingFor[] {
  const { kind, waits } = known;
  switch (kind) {
    case "wait":
      return hasFailed(known) ? [] : [...people(known), ...events(known)];
    case "park":
      return [release(known)];
    case "join":
      return [children(known)];
    case "ask":
      return waits.question === null ? [question(known)] : [...people(known), ...crowdJob(known)];
    default:
      return [];
  }
}

/** The timeout of the state or the deadline of the run, whichever comes first. */
function endOf({ waits }: KnownInstance): WaitEnd | null {
  for (const { kind, event, due_ms } of waits.timers)
    if (kind !== "send") return { timer: kind, event, at: new Date(due_ms) };
  return null;
}

const ofPawl = new Set<string>([...builtInEvents, "joined", "answered", "unanswered"]);

function events(known: KnownInstance): WaitingFor[] {
  const { lifecycle, state, model, waits } = known;
  // A sample in the hands of people is no wait for events.
  if (known.sample !== undefined && state === "open") return [];
  const names = (lifecycle?.eventsFrom(state) ?? []).filter((name) => !ofPawl.has(name));
  const end = endOf(known);
  const what = names.length === 0 ? "an event" : oneOf(names.map((name) => `\`${name}\``));
  const how =
    end === null
      ? foreverOf(model?.forever === true, waits.refused_event)
      : `until ${shownTime(end.at)}, when its ${end.timer} sends \`${end.event}\``;
  const sentence = `It waits for ${what}, ${how}.`;
  return [
    { kind: "events", events: names, end, since: enteredAt(known), until: end?.at ?? null, by: "outside", sentence },
  ];
}

function foreverOf(isDeclared: boolean, refused: string | null): string {
  if (refused !== null) return `without an end: it refused \`${refused}\``;
  return isDeclared ? "for ever, as its definition says" : "without an end: no timeout is left";
}

function oneOf(names: readonly string[]): string {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

function release(known: KnownInstance): WaitingFor {
  const { model, waits } = known;
  const failure = waits.release_failure;
  const event = model?.release?.send ?? null;
  const givenUp = failure !== null && failure.retry_ms === null;
  const every = model?.release?.every;
  const turnMs = waits.release_ms ?? (every === undefined ? null : enteredAt(known).getTime() + everyMs(every));
  // One that failed rests, and then has to wait for the next turn of its state.
  const againMs = givenUp ? null : Math.max(failure?.retry_ms ?? 0, turnMs ?? 0) || null;
  const untilMs = failure === null ? turnMs : againMs;
  const until = untilMs === null ? null : new Date(untilMs);
  const sends = event === null ? "" : `, which sends \`${event}\``;
  const when = until === null ? "It is not released any more" : `Its next release${sends} is at ${shownTime(until)}`;
  const how = failure?.what === "refused" ? "refused" : "failed";
  const times = failure === null ? "" : `; it ${how} ${timesOf(failure.attempts)} so far, last: ${failure.reason}`;
  return {
    kind: "release",
    event,
    failures: failure?.attempts ?? 0,
    lastFailure: failure === null ? null : { what: failure.what, reason: failure.reason },
    since: enteredAt(known),
    until,
    by: givenUp ? "person" : "clock",
    sentence: ended(`${when}${times}`),
  };
}

function everyMs(every: Duration): number {
  return durationMs(every, "release.every");
}

function timesOf(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

function children(known: KnownInstance): WaitingFor {
  const { waits, model } = known;
  const { children_open: open, children_failed: failed, children: first } = waits;
  const base = { kind: "children", open, failed, first, since: enteredAt(known), until: null } as const;
  if (open > 0) {
    const count = open >= mostChildren ? `${mostChildren.toLocaleString("en")} or more` : String(open);
    const named = first.slice(0, 3).map((one) => `\`${one.lifecycle}\` ${one.key ?? one.id} in \`${one.state}\``);
    const sentence = `It waits for ${count} open ${open === 1 ? "child" : "children"}: ${named.join(", ")}${open > 3 ? ", …" : ""}.`;
    return { ...base, by: "worker", sentence };
  }
  if (model?.join?.failed === "wait" && failed > 0) {
    const sentence = `${failed} of its children failed, and its join waits until they are recovered or discarded.`;
    return { ...base, by: "person", sentence };
  }
  if (waits.refused_event !== null) {
    const sentence = `All its children have ended, and it refused \`${waits.refused_event}\`.`;
    return { ...base, by: "person", sentence };
  }
  return { ...base, by: "clock", sentence: "All its children have ended; maintenance joins them." };
}

function question(known: KnownInstance): WaitingFor {
  const sentence = "Its question is about to be put.";
  return { kind: "question", since: enteredAt(known), until: null, by: "clock", sentence };
}

function people(known: KnownInstance): WaitingFor[] {
  const { sample } = known;
  if (sample === undefined) return [];
  const { queue, id, needs, filled, held_by: heldBy, labelers, skills } = sample;
  const who = labelers === null ? (skills.length === 0 ? "anybody" : "labelers") : oneOf(labelers);
  const skilled = skills.length === 0 ? "" : ` with the skills ${skills.join(", ")}`;
  const held = heldBy.length === 0 ? "nobody has it in hand" : `in the hands of ${heldBy.join(", ")}`;
  const open = `It waits for ${needs - filled} of ${needs} labels in queue \`${queue}\` by ${who}${skilled}; ${held}.`;
  const sentence =
    sample.state === "open"
      ? open
      : `Its sample in queue \`${queue}\` is \`${sample.state}\`${sample.reason === null ? "" : `: ${sample.reason}`}`;
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
      sentence: ended(sentence),
    },
  ];
}

function crowdJob(known: KnownInstance): WaitingFor[] {
  const { waits, sample } = known;
  const job = waits.question;
  if (job === null || sample !== undefined) return [];
  const sentence = `It waits for crowd job ${job.id}, which is in \`${job.state}\`.`;
  const { lifecycle, id, state } = job;
  const until = endOf(known)?.at ?? null;
  return [{ kind: "crowd_job", lifecycle, job: id, state, since: enteredAt(known), until, by: "outside", sentence }];
}

/** Open dead letters; and where the instance is failed, what became of the one that it had. */
function persons(known: KnownInstance): WaitingFor[] {
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
  const go = "It stays failed until somebody sends `recover`, `restart` or `discard`.";
  if (decided !== undefined) {
    const by = decided.decided_by === null ? "" : ` by ${decided.decided_by}`;
    return [{ ...base, reason: decided.reason, sentence: `Its dead letter was ${decided.status}${by}. ${go}` }];
  }
  if (row.parent_id !== null)
    return [
      { ...base, reason: "left_to_parent", sentence: `Its failure was left to its parent ${row.parent_id}. ${go}` },
    ];
  return [{ ...base, reason: row.failure?.reason ?? "failed", sentence: go }];
}

function openLetter(letter: WaitingLetter): WaitingFor {
  const { id, kind, reason, origin } = letter;
  const what =
    kind === "instance" ? `It was given up in \`${origin}\`` : `Work that it left behind in \`${origin}\` was given up`;
  const sentence = `${what} (${reason.replaceAll("_", " ")}); a person must decide about dead letter ${id}.`;
  const since = new Date(letter.created_ms);
  return { kind: "person", deadLetter: id, reason, since, until: null, by: "person", sentence };
}

function callbacks(known: KnownInstance): WaitingFor[] {
  const until = endOf(known)?.at ?? null;
  return known.waits.tokens.map(({ event, tokens, issued_ms, expires_ms }) => {
    const expiresAt = new Date(expires_ms);
    const count = tokens === 1 ? "A callback token" : `${tokens} callback tokens`;
    const sentence = `${count} for \`${event}\` may be used until ${shownTime(expiresAt)}.`;
    return { kind: "callback", event, tokens, expiresAt, since: new Date(issued_ms), until, by: "outside", sentence };
  });
}

function results(known: KnownInstance): WaitingFor[] {
  const { lifecycle, row, state } = known;
  const from = hasFailed(known) ? (row.failed_from ?? state) : state;
  return known.waits.results.map(({ id, event, received_ms, reason }) => {
    const reachable = lifecycle === undefined || isEventAhead(lifecycle, from, event);
    const since = new Date(received_ms);
    const came = `Result \`${event}\` came at ${shownTime(since)}`;
    const why = reason === null ? "" : ` Last: ${reason}.`;
    const sentence = reachable
      ? `${came} and waits for a state that takes it.${why}`
      : `${came}, and no state ahead takes it: accept it, or leave it.${why}`;
    return {
      kind: "result",
      callback: id,
      event,
      reachable,
      since,
      until: null,
      by: reachable ? "worker" : "person",
      sentence,
    };
  });
}

function timers(known: KnownInstance): WaitingFor[] {
  const isInEvents = known.kind === "wait" && !hasFailed(known) && known.sample === undefined;
  const since = enteredAt(known);
  const end = isInEvents ? endOf(known) : null;
  return known.waits.timers.flatMap((timer): WaitingFor[] => {
    const until = new Date(timer.due_ms);
    if (timer.kind !== "send") {
      if (end !== null && end.timer === timer.kind && end.at.getTime() === timer.due_ms) return [];
      const sentence = `Its ${timer.kind} sends \`${timer.event}\` at ${shownTime(until)}.`;
      return [{ kind: "timer", timer: timer.kind, event: timer.event, since, until, by: "clock", sentence }];
    }
    const failures = timer.attempts;
    const again = failures === 0 ? "" : `, after it failed ${timesOf(failures)}`;
    const from = timer.actor === null ? "" : `, sent by ${timer.actor}`;
    const sentence = `Event \`${timer.event}\` is delivered at ${shownTime(until)}${from}${again}.`;
    return [{ kind: "delayed_event", event: timer.event, failures, since, until, by: "clock", sentence }];
  });
}

function effects(known: KnownInstance): WaitingFor[] {
  return known.waits.effects.map((task) => {
    const name = task.event === null ? "A delivery to other instances" : `The after-effect of \`${task.event}\``;
    const notClaimed = known.notClaimed.get(task.lane);
    const { maxAttempts } = standardRetry;
    return {
      kind: "effect",
      event: task.event,
      ...waitForTask(task, { name, notClaimed, maxAttempts, last: null, progress: null }),
    };
  });
}
