import {
  about,
  anyOf,
  flag,
  id,
  listOf,
  moment,
  named,
  number,
  oneOf,
  orNull,
  type Schema,
  shape,
  text,
  whole,
} from "../../api/schema.ts";
import type { ExplanationResponse } from "../../contract.ts";
import { blockers, outcome } from "./instance-response.ts";

type Recovery = NonNullable<ExplanationResponse["recovery"]>;
type Next = Recovery["next"];
type Retry = NonNullable<Recovery["retry"]>;
type Planned = Extract<Retry, { kind: "planned" }>;

const nextRecovery = anyOf(
  shape<Extract<Next, { kind: "recovery" }>>({ kind: oneOf("recovery"), at: orNull(moment) }),
  shape<Extract<Next, { kind: "person" }>>({ kind: oneOf("person"), reason: orNull(text), deadLetter: orNull(id) }),
  shape<Extract<Next, { kind: "if_failed" }>>({
    kind: oneOf("if_failed"),
    recoversAfterMs: orNull(number),
    reason: orNull(text),
  }),
  shape<Extract<Next, { kind: "none" }>>({ kind: oneOf("none") }),
);

const retry = anyOf(
  shape<Planned>({
    kind: oneOf("planned"),
    target: text,
    targetKind: text,
    way: oneOf("resume", "recover_with", "only_permitted", "fallback"),
    resets: flag,
    moves: listOf(shape<Planned["moves"][number]>({ event: text, from: text, to: text })),
  }),
  shape<Extract<Retry, { kind: "refused" }>>({ kind: oneOf("refused"), blockers }),
  shape<Extract<Retry, { kind: "caught" }>>({ kind: oneOf("caught"), to: text }),
);

const recovery = named(
  "Recovery",
  shape<Recovery>({
    failure: orNull(
      shape<NonNullable<Recovery["failure"]>>({
        state: text,
        at: moment,
        event: text,
        reason: orNull(text),
        error: orNull(text),
      }),
    ),
    failures: about(whole, "Failures that count towards its budget."),
    maxFailures: orNull(whole),
    scope: oneOf("restart", "state", "lifetime"),
    next: about(nextRecovery, "How its failure is handled."),
    retry: about(orNull(retry), "What a recovery would do now."),
    sentences: about(listOf(text), "The whole explanation in plain English."),
  }),
);

type Wait = ExplanationResponse["waitingFor"][number];
type Kind = Wait["kind"];
type WaitOf<K extends Kind> = Extract<Wait, { kind: K }>;
type NotClaimed = Extract<Wait, { status: "ready" }>["notClaimed"];
type NotClaimedBy<Reason> = Extract<NotClaimed, { reason: Reason }>;

const ofKey = about(orNull(text), "The key whose own limit or rate it is; null for tasks without a key.");

const notClaimed = named(
  "NotClaimed",
  anyOf(
    shape<NotClaimedBy<"paused">>({ reason: oneOf("paused"), since: moment, actor: orNull(text), why: text }),
    shape<NotClaimedBy<"breaker">>({
      reason: oneOf("breaker"),
      breaker: text,
      state: oneOf("open", "half_open"),
      held: about(flag, "Whether a person forced it open."),
      actor: orNull(text),
      until: about(orNull(moment), "When it admits the first probe; null if no probe is scheduled."),
      why: orNull(text),
    }),
    shape<NotClaimedBy<"limit">>({ reason: oneOf("limit"), limit: whole, key: ofKey }, ["key"]),
    shape<NotClaimedBy<"rate">>({ reason: oneOf("rate"), rate: text, until: orNull(moment), key: ofKey }, ["key"]),
    shape<NotClaimedBy<"no_worker">>({ reason: oneOf("no_worker") }),
    shape<NotClaimedBy<"worker_outdated">>({ reason: oneOf("worker_outdated"), version: whole, newest: whole }),
    shape<NotClaimedBy<"in_turn">>({ reason: oneOf("in_turn") }),
  ),
);

const base = {
  since: moment,
  until: about(orNull(moment), "When something happens without a person or an external event; null if nothing does."),
  by: about(oneOf("worker", "clock", "person", "outside"), "The person or process that ends the wait."),
  sentence: about(text, "The wait in plain English."),
};

const ofLane = {
  ...base,
  lane: text,
  attempt: about(whole, "The current or next attempt, from 1."),
  maxAttempts: orNull(whole),
  error: about(orNull(text), "The error of the last attempt, or why it ended without a result."),
};

const ready = { ...ofLane, status: oneOf("ready"), notClaimed: about(notClaimed, "Why no worker has claimed it.") };
const scheduled = { ...ofLane, status: oneOf("scheduled") };
const running = {
  ...ofLane,
  status: oneOf("running"),
  worker: text,
  leaseUntil: moment,
  progress: orNull(
    shape<NonNullable<Extract<Wait, { status: "running" }>["progress"]>>({ fraction: number, note: orNull(text) }),
  ),
};

type Ready<K extends Kind> = Extract<WaitOf<K>, { status: "ready" }>;
type Scheduled<K extends Kind> = Extract<WaitOf<K>, { status: "scheduled" }>;
type Running<K extends Kind> = Extract<WaitOf<K>, { status: "running" }>;

const step = { kind: oneOf("step") };
const recovering = { kind: oneOf("recovery"), target: orNull(text) };
const effect = { kind: oneOf("effect"), event: about(orNull(text), "Null for a delivery to other instances.") };

const end = orNull(
  shape<NonNullable<WaitOf<"events">["end"]>>({ timer: oneOf("timeout", "deadline"), event: text, at: moment }),
);

/** One kind of wait at a time: a kind without a schema does not compile. */
const waits: { readonly [K in Kind]: Schema<WaitOf<K>> } = {
  step: anyOf(
    shape<Ready<"step">>({ ...step, ...ready }),
    shape<Scheduled<"step">>({ ...step, ...scheduled }),
    shape<Running<"step">>({ ...step, ...running }),
  ),
  recovery: anyOf(
    shape<Ready<"recovery">>({ ...recovering, ...ready }),
    shape<Scheduled<"recovery">>({ ...recovering, ...scheduled }),
    shape<Running<"recovery">>({ ...recovering, ...running }),
  ),
  effect: anyOf(
    shape<Ready<"effect">>({ ...effect, ...ready }),
    shape<Scheduled<"effect">>({ ...effect, ...scheduled }),
    shape<Running<"effect">>({ ...effect, ...running }),
  ),
  events: shape<WaitOf<"events">>({
    ...base,
    kind: oneOf("events"),
    events: listOf(text),
    end: about(end, "The timer that ends the wait."),
    forever: about(flag, "Whether its state declares that it waits without a time limit."),
  }),
  timer: shape<WaitOf<"timer">>({ ...base, kind: oneOf("timer"), timer: oneOf("timeout", "deadline"), event: text }),
  delayed_event: shape<WaitOf<"delayed_event">>({
    ...base,
    kind: oneOf("delayed_event"),
    event: text,
    failures: about(whole, "The number of failed deliveries."),
  }),
  release: shape<WaitOf<"release">>({
    ...base,
    kind: oneOf("release"),
    event: orNull(text),
    failures: about(whole, "The number of times it was refused or failed."),
    lastFailure: orNull(
      shape<NonNullable<WaitOf<"release">["lastFailure"]>>({ what: oneOf("refused", "failed"), reason: text }),
    ),
  }),
  children: shape<WaitOf<"children">>({
    ...base,
    kind: oneOf("children"),
    open: about(whole, "At most 10,000 are counted."),
    failed: whole,
    first: listOf(
      shape<WaitOf<"children">["first"][number]>({ id, lifecycle: text, key: orNull(text), state: text, outcome }),
    ),
  }),
  question: shape<WaitOf<"question">>({ ...base, kind: oneOf("question") }),
  people: shape<WaitOf<"people">>({
    ...base,
    kind: oneOf("people"),
    queue: text,
    sample: id,
    wanted: whole,
    given: whole,
    heldBy: about(listOf(text), "Labelers that have it assigned."),
    labelers: about(orNull(listOf(text)), "Labelers that may label it; null for every labeler with the skills."),
    skills: listOf(text),
  }),
  crowd_job: shape<WaitOf<"crowd_job">>({ ...base, kind: oneOf("crowd_job"), lifecycle: text, job: id, state: text }),
  callback: shape<WaitOf<"callback">>({
    ...base,
    kind: oneOf("callback"),
    event: text,
    tokens: whole,
    expiresAt: moment,
  }),
  result: shape<WaitOf<"result">>({ ...base, kind: oneOf("result"), callback: id, event: text, reachable: flag }),
  person: shape<WaitOf<"person">>({ ...base, kind: oneOf("person"), deadLetter: orNull(id), reason: text }),
  definition_fault: shape<WaitOf<"definition_fault">>({
    ...base,
    kind: oneOf("definition_fault"),
    lane: text,
    error: text,
  }),
  newer_definition: shape<WaitOf<"newer_definition">>({
    ...base,
    kind: oneOf("newer_definition"),
    definition: whole,
    process: whole,
  }),
  undeclared_state: shape<WaitOf<"undeclared_state">>({ ...base, kind: oneOf("undeclared_state"), process: whole }),
};

type Automatic = NonNullable<ExplanationResponse["next"]>;
type Stuck = NonNullable<ExplanationResponse["stuck"]>;

const reasons: { readonly [Reason in Stuck["reason"]]: true } = {
  no_worker: true,
  worker_outdated: true,
  state_undeclared: true,
  ready_too_long: true,
  running_too_long: true,
  overdue: true,
  dead_letter: true,
  release_refused: true,
  event_refused: true,
  result_unmatched: true,
  unassignable: true,
  queue_inactive: true,
  definition_fault: true,
};

/** What an instance waits for, what happens next, and whether it is stuck. */
export const explanation = named(
  "Explanation",
  shape<ExplanationResponse>({
    id,
    key: orNull(text),
    lifecycle: text,
    state: text,
    outcome,
    since: about(moment, "When it entered its state."),
    at: about(moment, "The database's time of this explanation."),
    waitingFor: about(listOf(named("Wait", anyOf(...Object.values(waits)))), "Empty only for an ended instance."),
    next: about(
      orNull(
        shape<Automatic>({
          kind: oneOf(...(Object.keys(waits) as Kind[])),
          at: about(orNull(moment), "Null: as soon as a worker or maintenance processes it."),
          sentence: text,
        }),
      ),
      "What happens next without a person or an external event.",
    ),
    idle: about(orNull(text), "What has to happen first, if nothing happens by itself; null otherwise."),
    stuck: about(
      orNull(
        shape<Stuck>({
          reason: oneOf(...(Object.keys(reasons) as Stuck["reason"][])),
          since: moment,
          sentence: text,
          remedy: about(text, "What to do about it."),
        }),
      ),
      "Why nothing moves it until a person acts; null if it is not stuck.",
    ),
    recovery: about(orNull(recovery), "Null if the instance has a newer definition than this process."),
    sentences: about(listOf(text), "The whole explanation in plain English."),
  }),
);
