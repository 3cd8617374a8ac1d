import { PawlError } from "../base/errors.ts";
import { dateOf } from "../base/moment.ts";
import type { AnyLifecycle, DataOf, StateOf } from "../definition/language/public-types.ts";
import type { Child } from "../definition/language/step.ts";
import type { Entry } from "../definition/schedule/timetable.ts";
import type { ReceiveOutcome } from "../kernel/callbacks/receive.ts";
import { refOf } from "../kernel/refs.ts";
import type { FailureOf, Snapshot } from "../kernel/types/snapshot.ts";
import { abandonedAfterMs } from "../schedules/run-schedules.ts";
import type { ScheduleView } from "../schedules/views/schedules.ts";
import type { CallbackView } from "../views/callbacks.ts";
import type { ChildCounts } from "../views/children.ts";
import type { AttemptRow, MoveRow } from "../views/move/history.ts";
import type { InstanceRef } from "./arguments/options.ts";

/** An instance, as of the time of the read. */
export interface Instance<L extends AnyLifecycle = AnyLifecycle> {
  readonly id: string;
  readonly key: string | null;
  readonly lifecycle: string;
  /** The instance whose step started it; null if a call started it. A child's key is unique among its siblings only. */
  readonly parent: { readonly lifecycle: string; readonly id: string } | null;
  /** The version of the definition that moved it last. */
  readonly definition: number;
  readonly state: StateOf<L>;
  /** The number of its moves. */
  readonly version: number;
  readonly data: DataOf<L>;
  /** How it ended; null while it is open. */
  readonly outcome: "success" | "failure" | "discarded" | null;
  readonly createdAt: Date;
  readonly movedAt: Date;
  readonly closedAt: Date | null;
  readonly deadlineAt: Date | null;
  /** When its deadline passed, while it is failed because of it. */
  readonly timedOutAt: Date | null;
  /** Its last failure, while it is failed or after it ended in failure; null otherwise. */
  readonly failure: InstanceFailure | null;
  /** The last reported progress of its running task; only `get` returns it. */
  readonly progress?: Progress;
}

/** The failure of an instance. */
export interface InstanceFailure {
  /** The same reason as in the history and in `explain`, such as `attempts_used_up`, `deadline` or `child_failed`. */
  readonly reason: string;
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly at: Date;
  /** The state in which it failed. */
  readonly state: string;
}

/** The progress of a step. */
export interface Progress {
  /** From 0 to 1. */
  readonly fraction: number;
  readonly note: string | null;
  readonly at: Date;
}

/** A started instance; `created` is false if its key already existed. */
export type StartedInstance<L extends AnyLifecycle = AnyLifecycle> = Instance<L> & { readonly created: boolean };

export type SendResult<L extends AnyLifecycle = AnyLifecycle> =
  | { readonly ok: true; readonly instance: Instance<L> }
  | { readonly ok: false; readonly error: PawlError };

export type StartResult<L extends AnyLifecycle = AnyLifecycle> =
  | { readonly ok: true; readonly instance: StartedInstance<L> }
  | { readonly ok: false; readonly error: PawlError };

export type ReceiveResult =
  | { readonly ok: true; readonly callback: ReceivedCallback }
  | { readonly ok: false; readonly error: PawlError };

/** The state of a schedule. */
export interface ScheduleStatus {
  readonly name: string;
  /** When it is due, such as `30 3 * * * Europe/Berlin` or `every 10m`. */
  readonly timing: string;
  /** The lifecycle or job that it starts. */
  readonly starts: string;
  /** `new`: no process has registered it yet. `orphaned`: no process has declared it for two minutes. */
  readonly status: "active" | "paused" | "new" | "orphaned";
  /** Null if it is paused or orphaned, or has no further tick. */
  readonly nextAt: Date | null;
  readonly paused: { readonly at: Date; readonly actor: string | null; readonly reason: string | null } | null;
  /**
   * The last tick: its time, when it ran, and its result: a new instance, an existing one with the same key, or
   * nothing.
   */
  readonly last: {
    readonly tick: Date;
    readonly at: Date;
    readonly result: "started" | "existed" | "failed";
    readonly instance: string | null;
    readonly error: string | null;
  } | null;
}

/** A move of an instance. */
export interface JournalEntry {
  readonly kind: "move";
  readonly version: number;
  readonly event: string;
  /** Null for the start. */
  readonly from: string | null;
  readonly to: string;
  readonly at: Date;
  /** The source: a `call`, a `worker`, a `timer`, a `callback`, or `pawl` itself. */
  readonly source: MoveRow["source"];
  readonly actor: string | null;
  readonly reason: string | null;
  readonly payload: unknown;
  /** Changed and removed keys of the data. */
  readonly patch: Readonly<Record<string, unknown>> | null;
  readonly cleared: readonly string[] | null;
  readonly definition: number;
}

/** An attempt that did not move the instance. */
export interface AttemptEntry {
  readonly kind: "attempt";
  readonly what: AttemptRow["what"];
  readonly at: Date;
  readonly lane: string | null;
  readonly attempt: number | null;
  readonly worker: string | null;
  readonly detail: unknown;
  /** When the claimed attempt ended; null while it runs, and for other entries. */
  readonly endedAt: Date | null;
  /** Its outcome: the event that it caused, or `failed`, `lapsed`, `released` or `deferred`. */
  readonly outcome: string | null;
}

/** The children of an instance's current run: counts by outcome, and the first of them. */
export interface Children extends ChildCounts {
  readonly first: readonly Child[];
}

/** The result of receiving a callback. It is stored whatever the result. */
export interface ReceivedCallback {
  readonly id: string;
  /** It was applied, waits for its instance, or is kept as late. */
  readonly accepted: boolean;
  /** It arrived after the deadline. */
  readonly late: boolean;
  /** A duplicate; this is the first result again. */
  readonly duplicate: boolean;
  readonly status: Callback["status"];
  /** Why it was refused or rejected. */
  readonly reason: string | null;
  readonly receivedAt: Date;
}

/** A callback of an external system. */
export interface Callback {
  readonly id: string;
  readonly lifecycle: string;
  /** The id of the instance, and its key. */
  readonly instance: string;
  readonly key: string | null;
  readonly event: string;
  /** The sender's id for it, such as the id of a request. */
  readonly dedupeKey: string;
  /** Its source: a `call`, the holder of a `token`, or a `step` that finished after the deadline. */
  readonly source: "call" | "token" | "step";
  readonly actor: string | null;
  readonly payload: unknown;
  /** The reported error; null for a result. */
  readonly error: { readonly name: string; readonly message: string; readonly code?: string } | null;
  readonly receivedAt: Date;
  readonly late: boolean;
  /**
   * `waiting` for a state that accepts it, `applied` as its event, `kept` as late, `rejected` as late, `refused` (by a
   * guard, because the instance ended, or because its guard, `set` or hook threw four times), or `accepted` although
   * late.
   */
  readonly status: "waiting" | "applied" | "kept" | "rejected" | "refused" | "accepted";
  readonly reason: string | null;
  /** The move that it caused. */
  readonly version: number | null;
  readonly settledAt: Date | null;
}

export function receivedOf({ callback, duplicate }: Extract<ReceiveOutcome, { ok: true }>): ReceivedCallback {
  const { id, accepted, is_late, status, reason, received_ms } = callback;
  const answer = { accepted: accepted ?? true, late: is_late, duplicate, status, reason };
  return { id, ...answer, receivedAt: new Date(received_ms) };
}

export function callbackOf(row: CallbackView): Callback {
  const { id, lifecycle, key, event, dedupe, source, actor, payload, error, status, reason, version } = row;
  return {
    ...{ id, lifecycle, key, event, dedupeKey: dedupe, source, actor, payload, error, status, reason, version },
    instance: row.instance_id,
    receivedAt: new Date(row.received_ms),
    late: row.is_late,
    settledAt: dateOf(row.settled_ms),
  };
}

export function instanceOf<L extends AnyLifecycle>(
  { model, movedAtMs, closedAtMs, failure }: Snapshot,
  renamed: Readonly<Record<string, string>>,
): Instance<L> {
  return {
    id: model.id,
    key: model.key,
    lifecycle: model.lifecycle,
    parent: model.parent,
    definition: model.definition,
    state: (renamed[model.state] ?? model.state) as StateOf<L>,
    version: model.version,
    data: model.data as DataOf<L>,
    outcome: model.outcome,
    createdAt: new Date(model.createdAtMs),
    movedAt: new Date(movedAtMs),
    closedAt: dateOf(closedAtMs),
    deadlineAt: dateOf(model.deadlineAtMs),
    timedOutAt: dateOf(model.timedOutAtMs),
    failure: failure === null ? null : failureShown(failure),
  };
}

function failureShown({ reason, error, state, atMs }: FailureOf): InstanceFailure {
  return { reason, error, at: new Date(atMs), state };
}

export function entryOf(row: MoveRow): JournalEntry {
  const { version, event, source, actor, reason, payload, patch, cleared, definition } = row;
  const at = new Date(row.at_ms);
  return {
    kind: "move",
    version,
    event,
    from: row.from_state,
    to: row.to_state,
    at,
    source,
    actor,
    reason,
    payload,
    patch,
    cleared,
    definition,
  };
}

/** The outcomes of claims, by token: with a move, or without one. */
type Ends = ReadonlyMap<number, { readonly atMs: number; readonly outcome: string }>;

function endsOf(moves: readonly MoveRow[], attempts: readonly AttemptRow[]): Ends {
  const ends = new Map<number, { atMs: number; outcome: string }>();
  for (const { what, token, at_ms } of attempts)
    if (what !== "claimed" && token !== 0) ends.set(token, { atMs: at_ms, outcome: what });
  for (const { token, event, at_ms } of moves) if (token !== null) ends.set(token, { atMs: at_ms, outcome: event });
  return ends;
}

function attemptOf(row: AttemptRow, ends: Ends): AttemptEntry {
  const { what, lane, attempt, worker, detail } = row;
  const end = what === "claimed" ? ends.get(row.token) : undefined;
  const endedAt = end === undefined ? null : new Date(end.atMs);
  const at = new Date(row.at_ms);
  return { kind: "attempt", what, at, lane, attempt, worker, detail, endedAt, outcome: end?.outcome ?? null };
}

/**
 * Orders moves by version, and inserts attempts by time. A step that was claimed together with the move into its state
 * belongs to the worker that made that move.
 */
export function historyOf(
  lifecycle: string,
  moves: readonly MoveRow[],
  attempts: readonly AttemptRow[],
): (JournalEntry | AttemptEntry)[] {
  const ends = endsOf(moves, attempts);
  const workers = new Map(attempts.map(({ token, worker }) => [token, worker]));
  const places = new Map<number, number>();
  for (const [place, { token, what }] of attempts.entries()) if (what === "claimed") places.set(token, place);
  let next = 0;
  const history: (JournalEntry | AttemptEntry)[] = [];
  for (const move of moves) {
    // The claim that a move ended precedes it, also at the same time, together with everything before that claim.
    const own = move.token === null ? -1 : (places.get(move.token) ?? -1);
    while (next < attempts.length && (next <= own || attempts[next]!.at_ms < move.at_ms))
      history.push(attemptOf(attempts[next++]!, ends));
    history.push(entryOf(move));
    const { granted, token, at_ms, definition, to_state } = move;
    if (granted === null) continue;
    const worker = token === null ? null : (workers.get(token) ?? null);
    workers.set(granted, worker);
    const lane = `${lifecycle}@${definition}/${to_state}`;
    history.push(attemptOf({ what: "claimed", at_ms, lane, attempt: 1, worker, token: granted, detail: null }, ends));
  }
  return [...history, ...attempts.slice(next).map((row) => attemptOf(row, ends))];
}

export function noInstance(lifecycle: AnyLifecycle, instance: InstanceRef): PawlError {
  const ref = refOf(instance);
  const which = "id" in ref ? `the id ${ref.id}` : `the key "${ref.key}"`;
  return new PawlError("instance_unknown", `Lifecycle \`${lifecycle.name}\` has no instance with ${which}.`, {
    lifecycle: lifecycle.name,
  });
}

/** The stored schedule; whether it is orphaned also depends on the declarations of this process. */
export function scheduleOf(row: ScheduleView, isDeclared: boolean): ScheduleStatus {
  const isAbandoned = !isDeclared && row.now_ms - row.seen_ms > abandonedAfterMs;
  const status = row.paused_ms !== null ? "paused" : isAbandoned ? "orphaned" : "active";
  return {
    name: row.name,
    timing: row.timing,
    starts: row.lifecycle,
    status,
    nextAt: status === "active" ? dateOf(row.next_ms) : null,
    paused:
      row.paused_ms === null ? null : { at: new Date(row.paused_ms), actor: row.paused_by, reason: row.paused_reason },
    last:
      row.last_result === null
        ? null
        : {
            tick: new Date(row.last_ms!),
            at: new Date(row.last_run_ms!),
            result: row.last_result,
            instance: row.last_instance,
            error: row.last_error,
          },
  };
}

/** A schedule that is declared but not yet registered. */
export function newSchedule({ schedule, timing }: Entry): ScheduleStatus {
  return {
    name: schedule.name,
    timing,
    starts: schedule.start.name,
    status: "new",
    nextAt: null,
    paused: null,
    last: null,
  };
}
