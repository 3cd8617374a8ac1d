import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Duration } from "../base/duration.ts";
import type { Failure } from "./language/built-in.ts";
import type { HookTransaction, Limit, RateLimit, Share } from "./language/definition-types.ts";
import type { Input, NoData, Output } from "./language/inferred.ts";
import type { Lifecycle } from "./language/public-types.ts";
import type { Effect, GiveUp, RetryLater, Work } from "./language/step.ts";
import type { StorableFields } from "./language/storable.ts";
import type { Context, RetryModel } from "./model.ts";
import { buildLifecycle } from "./read/build.ts";
import { Faults, quotedValue } from "./read/fault.ts";
import { readFields, whole } from "./read/read.ts";

/** The step of a job's `run`. */
export interface JobStep<Payload = Record<string, never>> extends Work<Payload> {
  /** The payload that the job was enqueued with; `data` is the same. */
  readonly payload: Payload;
}

/** What runs with the end of a job. */
interface JobHooks<Payload, EventPayload> {
  /** Runs inside the transaction of the end; a throw rolls it back. */
  readonly before?: (context: Context<Payload, EventPayload> & { readonly tx: HookTransaction }) => unknown;
  /** Runs after the commit, as a task of its own, retried on its own. */
  readonly after?: (effect: Effect<Payload, EventPayload>) => unknown;
}

// biome-ignore lint/suspicious/noConfusingVoidType: it is the return type of a function that returns nothing.
type JobReturned = void | undefined | RetryLater | GiveUp;

export interface JobDefinition<Schema> {
  readonly payload?: Schema & StorableFields<Output<NoInfer<Schema>>>;
  readonly run: (step: JobStep<Output<Schema>>) => JobReturned | Promise<JobReturned>;
  /**
   * Hooks of its end: `done` when `run` has succeeded, `fail` when its attempts are used up.
   *
   * ```ts
   * const report = job("report", {
   *   run: async () => {},
   *   on: { fail: { after: ({ payload }) => mailer.send("ops@example.com", `No report: ${payload.reason}`) } },
   * });
   * ```
   */
  readonly on?: {
    readonly done?: JobHooks<Output<Schema>, undefined>;
    readonly fail?: JobHooks<Output<Schema>, Failure>;
  };
  /** How often it is tried and how long it rests in between. */
  readonly retry?: RetryModel;
  /** Lower runs sooner. */
  readonly priority?: number;
  /** The outside dependency that the job needs, by the name of its breaker. */
  readonly uses?: string;
  /** How many may run at a time, over all workers, in all and of each key. */
  readonly limit?: Limit<Output<NoInfer<Schema>>>;
  /** How many may begin in a time, in all and of each key: `"100/m"`. */
  readonly rate?: RateLimit<Output<NoInfer<Schema>>>;
  /** The key by which waiting jobs take turns, and its weight. */
  readonly share?: Share<Output<NoInfer<Schema>>>;
  readonly version?: number;
  /**
   * How long an ended job is kept.
   * @default "7d"
   */
  readonly retention?: Duration;
}

/** A background job: a lifecycle of one step, with all the same guarantees. */
export interface Job<Name extends string = string, Payload = unknown, Given = unknown>
  extends Lifecycle<{
    readonly name: Name;
    readonly data: Payload;
    readonly input: Given;
    readonly state: "pending" | "done" | "error";
    readonly events: {
      readonly done: undefined;
      readonly fail: Partial<Failure> | undefined;
      readonly restart: undefined;
    };
  }> {
  readonly job: true;
}

export type AnyJob = Job;

/** What `enqueue` takes with a job. */
export type JobPayloadOf<J extends AnyJob> = NonNullable<J["~facts"]>["input"];

const keys = ["payload", "run", "on", "retry", "priority", "uses", "limit", "rate", "share", "version", "retention"];

/**
 * A plain background job. It is `pending` until its `run` has succeeded (`running` while a worker has it), then `done`,
 * or `error` when its attempts are used up; a person can `restart` it from there. Its key is unique while it is open.
 *
 * ```ts
 * const sendEmail = job("send-email", {
 *   payload: z.object({ to: z.string(), text: z.string() }),
 *   run: async (step) => { await mailer.send(step.payload, { signal: step.signal }); },
 * });
 * await pawl.enqueue(sendEmail, { to: "ada@example.com", text: "Hello" });
 * ```
 */
export function job<Name extends string, Schema extends StandardSchemaV1 = NoData>(
  name: Name,
  definition: JobDefinition<Schema>,
): Job<Name, Output<Schema>, Input<Schema>> {
  const faults = new Faults();
  const fields = readFields(definition, keys, whole, faults) ?? {};
  if (fields.run === undefined) faults.add("kind_missing", "run", "It is missing.", "Write the function to run.");
  const on = fields.on === undefined ? {} : (readFields(fields.on, ["done", "fail"], "on", faults) ?? {});
  const hooksOf = (event: string) =>
    on[event] === undefined ? undefined : readFields(on[event], ["before", "after"], `on.${event}`, faults);
  const [done, fail] = [hooksOf("done"), hooksOf("fail")];
  faults.throwIfAny(`job ${quotedValue(name)}`);
  const { payload, version, retention = "7d", on: _, ...step } = fields;
  return buildLifecycle(
    name,
    {
      data: payload,
      version,
      retention,
      builtIns: false,
      initial: "pending",
      states: {
        pending: { ...step, on: { done: { ...done, to: "done" }, fail: { ...fail, to: "error" } } },
        done: { final: "success" },
        error: { final: "failure" },
      },
    },
    { job: true },
  ) as Job<Name, Output<Schema>, Input<Schema>>;
}
