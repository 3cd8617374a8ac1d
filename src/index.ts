export type { Duration } from "./base/duration.ts";
export { type ErrorCode, isPawlError, PawlError } from "./base/errors.ts";
export type { Json } from "./base/json.ts";
export { PermanentError, TransientError } from "./base/step-errors.ts";
export { defineConfig, type PawlConfig } from "./config.ts";
export { createPawl, type PawlOptions } from "./create.ts";
export type { Answered, BuiltInEvent, BuiltInState, Failure, Joined, Unanswered } from "./definition/built-in.ts";
export { type AnyCrowd, type Crowd, crowd } from "./definition/crowd.ts";
export type { Blocker, Permission } from "./definition/decide.ts";
export { type DiagramOptions, diagram, diagramSvg } from "./definition/diagram.ts";
export type { AnyLifecycle, DataOf, EventOf, Lifecycle, PayloadOf, StartDataOf, StateOf } from "./definition/face.ts";
export type { Fault, FaultCode } from "./definition/fault.ts";
export { type AnyJob, type Job, type JobPayloadOf, type JobStep, job } from "./definition/job.ts";
export type { HookTransaction } from "./definition/language.ts";
export { lifecycle } from "./definition/lifecycle.ts";
export type { Context } from "./definition/model.ts";
export { type AnyQueue, type Queue, queue } from "./definition/queue.ts";
export { type AnySchedule, type Schedule, schedule } from "./definition/schedule.ts";
export type { Child, Effect, GiveUp, Go, RetryLater, StartOptions, Step } from "./definition/step.ts";
export type {
  CallOptions,
  EnqueueArguments,
  EnqueueItem,
  EnqueueOptions,
  FindOptions,
  InstanceRef,
  SendArguments,
  SendItem,
  SendOptions,
  StartCallOptions,
} from "./given.ts";
export { Pawl } from "./pawl.ts";
export { constant, exponential, type RetryPolicy } from "./policy/retry.ts";
export type {
  AttemptEntry,
  DeadLetter,
  Instance,
  JobStatus,
  JournalEntry,
  SendResult,
  StartedInstance,
} from "./shown.ts";
export { fromDrizzle, fromKysely, fromPrisma, type TransactionLike } from "./store/foreign-tx.ts";
export type { VerifyOptions, Violation } from "./views/verify.ts";
export type { LoopState, SlotState, WorkerMove } from "./worker/states.ts";
export { Worker, type WorkOptions } from "./worker/work.ts";
