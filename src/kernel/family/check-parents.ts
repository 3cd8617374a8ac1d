import { cleanText } from "../../base/json.ts";
import { deleteChecks, readChecks } from "../../store/family/checks.ts";
import { type JoinStatus, readJoinStatuses } from "../../store/family/children.ts";
import { type InstanceRow, readInstances } from "../../store/move/instances.ts";
import type { Executor } from "../../store/port/db.ts";
import type { InstanceUpdate } from "../commit/instance-update.ts";
import { isForeign, type Kernel, lifecycleOf } from "../kernel.ts";
import { applyDueFirst, deliverOwnEvent, retryingOwnEvents } from "../move/apply-due.ts";
import { sweep } from "../move/sweep.ts";
import { discardAbandonedChildren } from "./discard-left-children.ts";
import { deliverAnswers, type PlannedQuestions, syncQuestions } from "./questions.ts";
import { reportUnjoinedFailures } from "./unjoined-failures.ts";

/** The result of a round over parents, with its errors. */
export interface CheckedParents {
  readonly joined: number;
  /** Checks that were made. */
  readonly made: number;
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
}

/**
 * Processes the parents with open checks: a join is notified when its children have ended; a state that asks gets its
 * question started, and receives the answer. A completed check is deleted; one that was added meanwhile has an id of
 * its own and is next. Any number of processes may do this at once: one of them moves the parent.
 */
export async function checkParents(kernel: Kernel, pageSize: number): Promise<CheckedParents> {
  const lifecycles = [...kernel.lifecycles.keys()];
  const failures: { id: string; error: unknown }[] = [];
  let joined = 0;
  let done = 0;
  for (let afterId = "0"; ; ) {
    const checks = await readChecks(kernel.db, { lifecycles, afterId, limit: pageSize });
    if (checks.length === 0) return { joined, made: done, failures };
    if (kernel.faults !== undefined) await kernel.faults.at("check.read");
    // Read after the checks, and so with the ended children that they are about.
    const rows = await readInstances(kernel.db, [...new Set(checks.map((check) => check.instance_id))]);
    const newer = new Set(rows.filter((row) => isForeign(kernel, row)).map((row) => row.id));
    const ours = rows.filter((row) => !newer.has(row.id));
    const busy = new Set<string>();
    const planned: PlannedQuestions = new Map();
    const swept = await sweep(kernel, ours, async (db, updates) => {
      await applyDueFirst(db, updates);
      // An event that threw is retried by its timer: a check must not retry it, too.
      const retrying = await retryingOwnEvents(db, updates);
      const others = updates.filter((update) => !retrying.has(update));
      await checkJoins(db, others, busy);
      await deliverAnswers(kernel, db, others, planned);
    });
    joined += swept.written.size;
    failures.push(...swept.failures);
    const asking = ours.filter((row) => asks(kernel, row)).map((row) => row.id);
    const { again: untended, failures: unasked } = await syncQuestions(kernel, asking, planned);
    const { again: unreported, failures: unsaid } = await reportUnjoinedFailures(kernel, ours);
    const undiscarded = await discardAbandonedChildren(kernel, ours);
    failures.push(...unasked, ...unsaid);
    const again = new Set([...newer, ...swept.missed, ...busy, ...untended, ...unreported, ...undiscarded]);
    const stays = (id: string) => again.has(id);
    const made = checks.filter((check) => !stays(check.instance_id));
    done += made.length;
    if (made.length > 0) {
      await deleteChecks(
        kernel.db,
        made.map((check) => check.id),
      );
    }
    if (checks.length < pageSize) return { joined, made: done, failures };
    afterId = checks.at(-1)!.id;
  }
}

/** Whether its lifecycle has states that ask. */
function asks(kernel: Kernel, row: InstanceRow): boolean {
  return [...lifecycleOf(kernel, row).states.values()].some((state) => state.kind === "ask");
}

/**
 * The children of those that are in a join, after what is due was applied. A parent with an undelivered event is
 * checked again after the delivery: a child that received a retry event must not be counted by its earlier outcome. So is
 * one whose move into the join has an `after` that has not run, since that may start and notify children.
 */
async function checkJoins(db: Executor, updates: readonly InstanceUpdate[], busy: Set<string>): Promise<void> {
  const joining = updates.filter((update) => update.error === undefined && policyOf(update) !== undefined);
  if (joining.length === 0) return;
  const runs = joining.map(({ instance: { id, run, visit } }) => ({ id, run, visit }));
  const standings = new Map((await readJoinStatuses(db, runs)).map((one) => [one.id, one]));
  for (const update of joining) {
    const standing = standings.get(update.row.id)!;
    if (standing.busy) busy.add(update.row.id);
    else update.decide(() => checkJoin(update, standing));
  }
}

function policyOf({ lifecycle, instance }: InstanceUpdate): "fail" | "count" | "wait" | undefined {
  return lifecycle.states.get(instance.state)?.join?.failed;
}

function checkJoin(update: InstanceUpdate, standing: JoinStatus): void {
  const event = eventOf(policyOf(update)!, standing);
  if (event !== undefined) deliverOwnEvent(update, event);
}

/** A child that failed, and why, as an alert of its parent names it. */
function failedChild({
  failed_lifecycle: lifecycle,
  failed_id: id,
  failed_key: key,
  failed_of: failure,
}: JoinStatus): string {
  const name = `${lifecycle} ${key === null ? id : `"${key}"`}`;
  if (failure === null) return `child ${name} failed`;
  const { reason, error, state } = failure;
  const why = error === null ? reason : `${error.name}: ${error.message}`;
  return cleanText(`child ${name} failed in ${state}: ${why}`, 2_000);
}

/** The event for a parent, if any. */
function eventOf(policy: "fail" | "count" | "wait", standing: JoinStatus) {
  const { failed_lifecycle: lifecycle, failed_id: id, failed_key: key } = standing;
  if (policy === "fail" && lifecycle !== null && id !== null) {
    const reason = "child_failed";
    const error = { name: "ChildFailed", message: failedChild(standing) };
    return { name: "fail", payload: { reason, error, attempts: 0, child: { lifecycle, id, key } }, reason };
  }
  if (standing.open || (policy === "wait" && id !== null)) return undefined;
  const { total, succeeded, failed, discarded } = standing;
  return { name: "joined", payload: { total, succeeded, failed, discarded }, reason: null };
}
