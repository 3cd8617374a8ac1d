import type { Focus } from "../plan/plan.ts";
import type { Patch } from "./load-engine.ts";

/** An engine with one defect, such as there has been or could be. */
export interface BrokenEngine {
  /** What it does wrong. */
  readonly defect: string;
  readonly patches: readonly Patch[];
  /** What worlds have more of, where the defect shows in few of them. */
  readonly focus?: Focus;
}

const tasks = "src/store/tasks/tasks.ts";
const moves = "src/store/move/move-instances.ts";
const round = "src/maintenance/round.ts";
const due = "src/kernel/move/apply-due.ts";
const gates = "src/store/tasks/gates.ts";
const closures = "src/kernel/lanes/closed-lanes.ts";

export const brokenEngines: readonly BrokenEngine[] = [
  {
    defect: "a claim does not change the token",
    patches: [
      {
        file: tasks,
        from: "::bigint + few.place,",
        to: "::bigint * 0 + task.token,",
      },
      {
        file: tasks,
        from: "token = 0,\n        attempt = task.attempt -",
        to: "attempt = task.attempt -",
      },
    ],
  },
  {
    defect: "a worker without its lease reports",
    patches: [
      { file: moves, from: "and task.token = decided.token", to: "and decided.token is not null" },
      { file: tasks, from: "each.id = lease.id and each.token = lease.token", to: "each.id = lease.id" },
    ],
  },
  {
    defect: "the leases of dead workers never lapse",
    patches: [{ file: tasks, from: "and each.worker is not null and each.leased_until <= clock.now", to: "and false" }],
  },
  {
    defect: "a step that is to be tried again is forgotten",
    patches: [{ file: tasks, from: "each.due_at is not null and each.due_at <= clock.now", to: "false" }],
  },
  {
    defect: "steps are retried without end",
    patches: [{ file: "src/policy/retry.ts", from: "attempt >= policy.maxAttempts", to: "false" }],
  },
  {
    defect: "one part of maintenance that throws ends every round",
    focus: { second: { kind: "ask" }, temper: { poison: 0.3 } },
    patches: [
      {
        file: round,
        from: "failures.push({ id: part, error: partFailed(part, thrown) });\n      return otherwise;",
        to: "throw thrown;",
      },
      {
        file: "src/kernel/family/questions.ts",
        from: "failWith(update, thrown);",
        to: "throw new Error(String(thrown));",
      },
      {
        file: "src/kernel/family/questions.ts",
        from: "update.decide(() => planOrFail(kernel, update, planned));",
        to: "planOrFail(kernel, update, planned);",
      },
    ],
  },
  {
    defect: "calls on one transaction share a savepoint",
    patches: [{ file: "src/store/port/transaction-turns.ts", from: "  await before;\n", to: "  void before;\n" }],
  },
  {
    defect: "why a release failed is dropped",
    focus: { second: { kind: "parked", hooks: ["before"] }, temper: { poison: 0.3 } },
    patches: [
      {
        file: "src/kernel/move/release.ts",
        from: "if (failures.length > 0) await failReleases(kernel, parked, failures);",
        to: "void failReleases;",
      },
    ],
  },
  {
    defect: "a delayed event that throws is retried without end",
    focus: { second: { kind: "timed", hooks: ["before"] }, temper: { poison: 0.3 } },
    patches: [
      {
        file: "src/kernel/move/failed-events.ts",
        from: "nextAttemptMs(standardRetry, attempt, Math.random()) ?? null",
        to: "1_000 + 0 * (nextAttemptMs(standardRetry, 1, 0) ?? 0)",
      },
    ],
  },
  {
    defect: "a delayed event that throws is lost",
    focus: { second: { kind: "timed", hooks: ["before"] }, temper: { hooks: 0.3 } },
    patches: [{ file: "src/kernel/move/failed-events.ts", from: "update.retryEvent(timer, retryAfterMs);", to: "" }],
  },
  {
    defect: "a deadline beats a result that came in time",
    focus: { second: { kind: "callback" } },
    patches: [
      {
        file: due,
        from: "index >= arrived && one.received_ms > timer.due_ms",
        to: "index >= arrived && one.received_ms > 0",
      },
    ],
  },
  {
    defect: "null becomes undefined in `once`",
    focus: { each: { parts: ["once"] } },
    patches: [
      {
        file: "src/kernel/tasks/memos.ts",
        from: "return has_value ? value : undefined;",
        to: "return has_value ? (value ?? undefined) : undefined;",
      },
    ],
  },
  {
    defect: "what `once` has kept is lost",
    focus: { each: { parts: ["once"] }, temper: { throws: 0.4 } },
    patches: [{ file: "src/kernel/tasks/memos.ts", from: "if (known !== undefined) return resultOf(known);", to: "" }],
  },
  {
    defect: "null becomes undefined in a step's payload",
    focus: { second: { kind: "callback" } },
    patches: [
      {
        file: tasks,
        from: "entry.payload is not null as has_payload",
        to: "coalesce(entry.payload ->> 'value', '') <> '' as has_payload",
      },
    ],
  },
  {
    defect: "after-effects run twice",
    focus: { each: { hooks: ["after"] } },
    patches: [
      {
        file: tasks,
        from: "select effect.id, effect.instance_id, 'effect'",
        to: "select case copy when 1 then effect.id else gen_random_uuid() end, effect.instance_id, 'effect'",
      },
      {
        file: tasks,
        from: "as effect(id, instance_id, lane, priority, visit, work)\n",
        to: "as effect(id, instance_id, lane, priority, visit, work) cross join generate_series(1, 2) as copy\n",
      },
    ],
  },
  {
    defect: "children alert though their parent deals with them",
    focus: { second: { kind: "join", join: "count" }, temper: { permanent: 0.3 } },
    patches: [{ file: "src/kernel/recovery/after-failure.ts", from: "  await leaveToParents(db, updates);\n", to: "" }],
  },
  {
    defect: "an instance that has recovered keeps its recovery",
    focus: { temper: { permanent: 0.3 } },
    patches: [
      {
        file: moves,
        from: "where task.id = written.id and written.drops_task",
        to: "where task.id = written.id and written.drops_task and written.from_state <> 'failed'",
      },
    ],
  },
  {
    defect: "a limit is exceeded",
    focus: { each: { limit: 1 }, temper: { slow: 0.5 } },
    patches: [
      { file: gates, from: "limit let_through.room for update skip locked", to: "limit 100 for update skip locked" },
      { file: gates, from: "limit let_through.room\n      ) as task", to: "limit 100\n      ) as task" },
    ],
  },
  {
    defect: "a rate counts nothing",
    focus: { each: { rate: true } },
    patches: [
      { file: gates, from: "where gate.rate is not null and claimed.lane", to: "where false and claimed.lane" },
    ],
  },
  {
    defect: "a pause is not respected",
    patches: [{ file: closures, from: "if (pause !== undefined)\n", to: "if (pause !== undefined && lane === '')\n" }],
  },
  {
    defect: "an open breaker lets work through",
    focus: { each: { breaker: true } },
    patches: [
      {
        file: closures,
        from: 'if (state === "closed") return undefined;',
        to: 'if (state !== "half_open") return undefined;',
      },
    ],
  },
  {
    defect: "a relay settles nothing",
    focus: { each: { parts: ["publish"] } },
    patches: [
      {
        file: "src/outbox/round.ts",
        from: "settleMessages(kernel.db, lease.token, outcomes, followersAtOnce)",
        to: "settleMessages(kernel.db, lease.token, [], followersAtOnce)",
      },
    ],
  },
  {
    defect: "the messages of a move are lost",
    focus: { each: { parts: ["publish"] } },
    patches: [
      {
        file: "src/store/move/messages.ts",
        from: "where (message.aggregate_id in (select id from written)) is true",
        to: "where false",
      },
    ],
  },
  {
    defect: "a call that is repeated by its key is carried out again",
    patches: [
      {
        file: "src/store/move/requests.ts",
        from: "where (request.instance_id in (select id from written)) is true",
        to: "where false",
      },
    ],
  },
  {
    defect: "a state that waits loses its timeout",
    focus: { second: { kind: "timed" } },
    patches: [
      {
        file: "src/store/move/timers.ts",
        from: "where (timer.instance_id in (select id from written)) is true",
        to: "where false",
      },
    ],
  },
  {
    defect: "parents are not looked at when their children end",
    focus: { second: { kind: "join" } },
    patches: [
      {
        file: "src/kernel/family/check-parents.ts",
        from: "export async function checkParents(",
        to: "export async function checkParents(): Promise<{ joined: number; made: number; failures: [] }> { return { joined: 0, made: 0, failures: [] }; }\nexport async function lookAtParentsNever(",
      },
    ],
  },
  {
    defect: "an older definition moves what a newer one has moved",
    patches: [
      {
        file: "src/kernel/kernel.ts",
        from: "if (lifecycle === undefined || definition > lifecycle.version) return true;",
        to: "if (lifecycle === undefined) return true;",
      },
    ],
  },
  {
    defect: "nobody is told of a dead letter",
    patches: [
      {
        file: "src/alerts/alert-loop.ts",
        from: "(await deliverAlerts(kernel, sinks)) > 0 ? 0 : restMs",
        to: "void deliverAlerts, void kernel, void sinks, restMs",
      },
    ],
  },
  {
    defect: "what is to be deleted stays",
    patches: [
      {
        file: "src/kernel/maintenance/prune.ts",
        from: "if (place === undefined) continue;",
        to: "if (place !== '') continue;",
      },
    ],
  },
  {
    defect: "a sample stays open though no labeler is left for it",
    focus: { second: { kind: "ask" } },
    patches: [
      {
        file: "src/people/assigning/eligible-labelers.ts",
        from: "return eligible.length > barred.size ||",
        to: "return eligible.length >= 0 ||",
      },
      {
        file: "src/people/assigning/eligibility.ts",
        from: "if (eligible.length === maxExcluded) return [];",
        to: "return [];",
      },
    ],
  },
  {
    defect: "a dead letter stays open though its instance went on",
    focus: { temper: { permanent: 0.3 } },
    patches: [
      {
        file: "src/kernel/commit/instance-update.ts",
        from: 'this.failures.decideLetters(event === "discard" ? "discarded" : "requeued",',
        to: "void ((..._: unknown[]) => {})(",
      },
      {
        file: "src/kernel/commit/failure-rows.ts",
        from: 'this.decideLetters("discarded", null, `superseded',
        to: "void (`superseded",
      },
    ],
  },
  {
    defect: "a listener that throws harms its caller",
    focus: { temper: { nonsense: 0.2 } },
    patches: [
      {
        file: "src/base/guard.ts",
        from: "    } catch (error) {\n      safely(error);",
        to: "    } catch (error) {\n      throw error;",
      },
    ],
  },
  {
    defect: "a worker that claims its own lapsed task lets the first attempt run",
    focus: { temper: { deaf: 0.2, hangs: 0.3 } },
    patches: [
      {
        file: "src/worker/task-pool.ts",
        from: 'this.#abortAll(earlier.filter((pooled) => pooled.outcome === undefined).map((pooled) => [pooled, "lapsed"]));',
        to: "void earlier;",
      },
    ],
  },
];
