import type { RecoveryExplanation } from "../../definition/decide/explain.ts";
import { isInternal } from "../../definition/internal.ts";
import { failed, type LifecycleModel, type StateKind, type StateModel } from "../../definition/model.ts";
import { isForeign, type Kernel } from "../../kernel/kernel.ts";
import { readSampleWait, type SampleWait } from "../../people/views/samples.ts";
import { readDefinitions } from "../../store/definitions.ts";
import type { InstanceRow } from "../../store/move/instances.ts";
import { readWaits, type WaitingTask, type WaitsRow } from "../views/waits.ts";
import { explainRecovery } from "./explain-recovery.ts";
import type { NotClaimed } from "./explanation.ts";
import { type KeyedTask, whyNotClaimed } from "./lane-service.ts";
import { abandonedStates } from "./undeclared-state.ts";

/** An instance with all that its explanation is made of. */
export interface KnownInstance {
  readonly kernel: Kernel;
  readonly row: InstanceRow;
  readonly waits: WaitsRow;
  /** The definition of this process; undefined where only other processes can move the instance. */
  readonly lifecycle: LifecycleModel | undefined;
  /** The state by the name that it has in that definition. */
  readonly state: string;
  readonly model: StateModel | undefined;
  readonly kind: StateKind | undefined;
  /** Whether no live process has a definition with its state; undefined where this one has, or a newer one moved it. */
  readonly isAbandoned: boolean | undefined;
  readonly notClaimed: ReadonlyMap<string, NotClaimed>;
  readonly sample: SampleWait | undefined;
  readonly recovery: RecoveryExplanation | null;
}

const sampleLifecycle = "pawl_sample";

/** Reads an instance with all data for its explanation: twelve statements at most, in any state, each by indexes. */
export async function readKnown(kernel: Kernel, row: InstanceRow): Promise<KnownInstance> {
  const waits = (await readWaits(kernel.db, row.id)) ?? gone(row);
  const lifecycle = isForeign(kernel, row) ? undefined : kernel.lifecycles.get(row.lifecycle);
  const state = lifecycle?.renamed[row.state] ?? row.state;
  const model = lifecycle?.states.get(state);
  const question = row.lifecycle === sampleLifecycle ? row : waits.question;
  return {
    kernel,
    row,
    waits,
    lifecycle,
    state,
    model,
    kind: model?.kind ?? (await kindOf(kernel, row)),
    isAbandoned: isUndeclared(kernel, row) ? (await abandonedStates(kernel, [row])).length > 0 : undefined,
    notClaimed: await whyNotClaimed(kernel, readyLanes(waits), waits.now_ms, keyedStep(waits)),
    sample: question?.lifecycle === sampleLifecycle ? await readSampleWait(kernel.db, question.id) : undefined,
    recovery: lifecycle === undefined ? null : await explainRecovery(kernel, kernel.db, row),
  };
}

/** When it entered its state. */
export function enteredAt({ waits, row }: KnownInstance): Date {
  return new Date(waits.entered_ms ?? row.moved_ms);
}

/** Whether it is in the built-in state `failed`. */
export function hasFailed({ row, state, lifecycle }: KnownInstance): boolean {
  return state === failed && row.outcome === null && (lifecycle?.builtIns ?? !isInternal(row.lifecycle));
}

/** Whether the definition of this process has no such state, though it is not older than that of the instance. */
function isUndeclared(kernel: Kernel, row: InstanceRow): boolean {
  const version = kernel.lifecycles.get(row.lifecycle)?.version ?? 0;
  return isForeign(kernel, row) && row.definition <= version;
}

/** Of a definition that this process does not have, the database knows the kinds of its states. */
async function kindOf(kernel: Kernel, row: InstanceRow): Promise<StateKind | undefined> {
  const known = await readDefinitions(kernel.db, [row.lifecycle]);
  const shape = known.find((one) => one.version === row.definition)?.shape;
  return shape?.states.find((one) => one.name === row.state)?.kind as StateKind | undefined;
}

function readyLanes({ step, effects }: WaitsRow): string[] {
  const isReady = (task: WaitingTask) => task.worker === null && task.due_ms === null;
  const tasks = [...(step === null ? [] : [step]), ...effects];
  return [...new Set(tasks.filter(isReady).map((task) => task.lane))];
}

function keyedStep({ step }: WaitsRow): KeyedTask | undefined {
  return step?.lane_key == null ? undefined : { lane: step.lane, key: step.lane_key };
}

/** It was deleted between the two reads. */
function gone(row: InstanceRow): WaitsRow {
  const none = { step: null, last_attempt: null, progress: null, release_failure: null, question: null };
  const empty = { effects: [], timers: [], letters: [], children: [], results: [], tokens: [] };
  const times = {
    now_ms: row.now_ms,
    entered_ms: row.moved_ms,
    refused_ms: null,
    release_ms: null,
    refused_event: null,
    check_ms: null,
    has_check: false,
  };
  return { ...none, ...empty, ...times, children_open: 0, children_failed: 0 };
}
