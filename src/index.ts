export type { Duration } from "./base/duration.ts";
export { type ErrorCode, isPawlError, PawlError } from "./base/errors.ts";
export type { Json } from "./base/json.ts";
export { PermanentError, TransientError } from "./base/step-errors.ts";
export { createPawl, type PawlOptions } from "./create.ts";
export type { Blocker, Permission } from "./definition/decide.ts";
export { diagram } from "./definition/diagram.ts";
export type { AnyLifecycle, DataOf, EventOf, Lifecycle, PayloadOf, StartDataOf, StateOf } from "./definition/face.ts";
export { type AnyJob, type Job, type JobStep, job } from "./definition/job.ts";
export { lifecycle } from "./definition/lifecycle.ts";
export type { Context } from "./definition/model.ts";
export { type AnyQueue, type Queue, queue } from "./definition/queue.ts";
export { type AnySchedule, type Schedule, schedule } from "./definition/schedule.ts";
export type { Child, Effect, Step } from "./definition/step.ts";
export {
  type AttemptEntry,
  type CallOptions,
  type FindOptions,
  type Instance,
  type InstanceRef,
  type JournalEntry,
  Pawl,
  type SendItem,
  type SendOptions,
  type SendResult,
  type StartedInstance,
} from "./pawl.ts";
export { constant, exponential, type RetryPolicy } from "./policy/retry.ts";
export { fromDrizzle, fromKysely, fromPrisma, type TransactionLike } from "./store/foreign-tx.ts";
