export type { Access, OpenSession, Principal, Session, Token, TokenOptions } from "./access/access.ts";
export type { Role } from "./access/roles.ts";
export { logAlerts } from "./alerts/log-alerts.ts";
export type { Alert, AlertSink, AlertTarget } from "./alerts/sink.ts";
export type {
  BulkSendArguments,
  OperationFilter,
  OperationOptions,
  PreviewedOperation,
  RecoverOptions,
} from "./api/arguments/bulk-options.ts";
export type {
  CallbacksOptions,
  EnqueueArguments,
  EnqueueItem,
  EnqueueOptions,
  FilterOptions,
  ForceBreakerOptions,
  InstanceRef,
  JobsOptions,
  LanesOptions,
  ListOptions,
  PauseOptions,
  PublishOptions,
  PutLimitOptions,
  ReceiveArguments,
  ReceiveOptions,
  ReportedError,
  ResumeOptions,
  SendArguments,
  SendItem,
  SendOptions,
  StuckOptions,
  TokenReceiveOptions,
  WaitOptions,
} from "./api/arguments/options.ts";
export type { Breakers } from "./api/groups/breakers.ts";
export type { Callbacks } from "./api/groups/callbacks.ts";
export type { Inspect } from "./api/groups/inspect.ts";
export type { Jobs } from "./api/groups/jobs.ts";
export type { Lanes } from "./api/groups/lanes.ts";
export type { Operations } from "./api/groups/operations.ts";
export type { Schedules } from "./api/groups/schedules.ts";
export type { Workers } from "./api/groups/workers.ts";
export { defineConfig, type HttpConfig, type HttpLimits, type PawlConfig } from "./api/open/config.ts";
export { createPawl, type PawlOptions } from "./api/open/create.ts";
export type { MaintainOptions, Maintenance } from "./api/open/drivers.ts";
export type { Pawl } from "./api/pawl.ts";
export type {
  AttemptEntry,
  Callback,
  Children,
  Instance,
  InstanceFailure,
  JournalEntry,
  Progress,
  ReceivedCallback,
  ReceiveResult,
  ScheduleStatus,
  SendResult,
  StartedInstance,
  StartResult,
} from "./api/results.ts";
export type { Duration } from "./base/duration.ts";
export { type ErrorCode, isPawlError, PawlError } from "./base/errors.ts";
export type { Json } from "./base/json.ts";
export { CircuitOpenError, PermanentError, RejectSubmission, TransientError } from "./base/step-errors.ts";
export type { Bytes } from "./base/text.ts";
export type { Marketplaces } from "./crowd/crowd-marketplaces.ts";
export type { CrowdCounts, CrowdPageOptions, Crowds, ListedCrowd } from "./crowd/crowds.ts";
export {
  type Bonus,
  CannotExtend,
  type Capabilities,
  type Decided,
  type Decision,
  type Extension,
  type Marketplace,
  type MarketplaceContext,
  type Posting,
  type RemoteJob,
  type RemoteSubmission,
} from "./crowd/marketplace.ts";
export type {
  AskOptions,
  BonusOptions,
  CrowdCallOptions,
  CrowdRef,
  DecideOptions as DecideSubmissionOptions,
} from "./crowd/options.ts";
export type { ReconcileIssue } from "./crowd/reconcile.ts";
export type { CrowdJob, CrowdJobState, CrowdSubmission, SubmissionState } from "./crowd/results.ts";
export type { DeadLetterArchive, RestoredLetters } from "./dead-letters/archive.ts";
export type { DeadLetters } from "./dead-letters/dead-letters.ts";
export { folderArchive } from "./dead-letters/folder-archive.ts";
export type {
  DeadLetterFilter,
  DeadLettersOptions,
  DecideOptions,
  RequeueManyOptions,
  RequeueOptions,
  RestoreFilter,
} from "./dead-letters/options.ts";
export type {
  ArchivedFile,
  DeadLetter,
  DeadLetterGroup,
  DecisionPreview,
  Ticket,
} from "./dead-letters/results.ts";
export type { DeadLetterOptions } from "./dead-letters/settings.ts";
export type { AssignTicketOptions, Tickets, TicketsOptions } from "./dead-letters/tickets.ts";
export {
  type AnyCrowd,
  type Crowd,
  type CrowdDefinition,
  crowd,
  type DecidedWork,
  type FinishedWork,
  type SubmissionWork,
} from "./definition/crowd.ts";
export type { CrowdOptions, CrowdSettings } from "./definition/crowd-settings.ts";
export type { AllowedEvent } from "./definition/decide/allowed-events.ts";
export type { Blocker } from "./definition/decide/decide.ts";
export type {
  ExplainedFailure,
  ExplainedRetry,
  NextRecoveryStep,
  RecoveryExplanation,
} from "./definition/decide/explain.ts";
export { type DiagramOptions, diagram, diagramSvg } from "./definition/diagram.ts";
export type { JobDefinition } from "./definition/job.ts";
export { type AnyJob, type Job, type JobPayloadOf, type JobStep, job } from "./definition/job.ts";
export type {
  Answered,
  BuiltInEvent,
  BuiltInState,
  Failure,
  Joined,
  ThrownError,
  Unanswered,
} from "./definition/language/built-in.ts";
export type { HookTransaction, Limit, Rate, RateLimit, Share } from "./definition/language/definition-types.ts";
export type {
  AnyLifecycle,
  DataOf,
  EventOf,
  Lifecycle,
  PayloadOf,
  StartDataOf,
  StateOf,
} from "./definition/language/public-types.ts";
export type {
  Child,
  Effect,
  GiveUp,
  Go,
  RetryLater,
  StartOptions,
  Step,
  StepSendOptions,
} from "./definition/language/step.ts";
export { lifecycle } from "./definition/lifecycle.ts";
export type { Context, Move, RetryRule } from "./definition/model.ts";
export type { LabelOf, LabelSchema, QueueDefinition } from "./definition/queue.ts";
export {
  type AnyQueue,
  type LabelContext,
  type LabelVerdict,
  type Queue,
  queue,
} from "./definition/queue.ts";
export type { QueueOptions, QueueOrder, QueueSettings, RankedSample, RankOf } from "./definition/queue-settings.ts";
export type { Fault, FaultCode } from "./definition/read/fault.ts";
export type { ScheduleDefinition } from "./definition/schedule/schedule.ts";
export { type AnySchedule, type Schedule, schedule, type Tick } from "./definition/schedule/schedule.ts";
export type { JsonSchema } from "./definition/schema/json-schema.ts";
export type { Need } from "./inspect/attention.ts";
export type {
  ExplainedChild,
  Explanation,
  NextAutomaticStep,
  NotClaimed,
  Stuck,
  StuckReason,
  WaitEnd,
  WaitEndedBy,
  WaitingFor,
} from "./inspect/explain/explanation.ts";
export type { InstanceCount } from "./inspect/find-page.ts";
export type { Overview } from "./inspect/overview.ts";
export type { StuckGroup, StuckInstance } from "./inspect/stuck/stuck-group.ts";
export type { VerifyOptions, Violation } from "./inspect/verify/verify.ts";
export type { Breaker, BreakerChange } from "./kernel/breakers/operate.ts";
export type { AlertRaisedEvent, DeadLetteredEvent, MovedEvent, PawlEvents } from "./kernel/events.ts";
export type { ClosedLane, Lane, LimitsChanged, LimitsOfKey } from "./kernel/lanes/list-lanes.ts";
export type { Aggregate } from "./kernel/move/publish.ts";
export type { AlertKind } from "./kernel/recovery/alert-of-dead-letter.ts";
export type { StuckAfterOptions } from "./kernel/stuck-after.ts";
export type { JobStatus } from "./kernel/tasks/jobs.ts";
export type { WorkerInfo } from "./kernel/tasks/workers.ts";
export type { CallOptions, StartCallOptions } from "./kernel/types/call-options.ts";
export type { Operation, OperationPreview } from "./operations/results.ts";
export { type Broker, BrokerAway, type DeadLetterSource, type OutboxMessage } from "./outbox/broker.ts";
export type { BrokerDeadMessage } from "./outbox/broker-dead-message.ts";
export type {
  DeadMessages,
  MessageFilter,
  Outbox,
  OutboxStatus,
  OutboxTypeStatus,
  StoredMessage,
} from "./outbox/outbox.ts";
export type { Relay, RelayCounts } from "./outbox/relay.ts";
export type { RelayOptions } from "./outbox/settings.ts";
export type { Next } from "./people/assigning/assigner.ts";
export type { NoWorkReason } from "./people/assigning/no-work-reason.ts";
export type { Submitted } from "./people/assignments.ts";
export type { DeskQueue, DeskWork, Draft, LabelersDesk } from "./people/desk.ts";
export type { LabelRow } from "./people/formats/export-labels.ts";
export type { ImportedLine, SampleRow } from "./people/formats/import-samples.ts";
export type { ImportCursor } from "./people/formats/lines.ts";
export type { Imported, Quality } from "./people/import-export.ts";
export type { WorkMove } from "./people/journal.ts";
export type { LabelFault } from "./people/labels/label-faults.ts";
export type { Metrics } from "./people/metrics.ts";
export type {
  AddOptions,
  LeadOptions,
  MetricsOptions,
  PageOptions,
  PeopleCallOptions,
  QueueRef,
  ReviewOptions,
  SampleRef,
} from "./people/options.ts";
export type { AddedSample, Labeler, People, SampleHistory } from "./people/people.ts";
export type { QueueStats } from "./people/queue-stats.ts";
export type { QueueInfo, RunTimeQueue } from "./people/queues.ts";
export type { Assignment, Label, Sample, SampleInfo, SampleState } from "./people/results.ts";
export type { Rejected } from "./people/review/review.ts";
export type { NewSample } from "./people/samples.ts";
export type { AssignmentStatus } from "./people/store/assignments.ts";
export type { Agreement, FieldAgreement, LabelerAgreement } from "./policy/agreement/agreement.ts";
export type { GoldAccuracy } from "./policy/agreement/gold.ts";
export type { BreakerCause, BreakerOptions } from "./policy/breaker.ts";
export type { Backoff } from "./policy/retry.ts";
export { constant, exponential, isNetworkError, type RetryPolicy } from "./policy/retry.ts";
export type { Tx } from "./store/port/db.ts";
export { fromDrizzle, fromKysely, fromPrisma, type TransactionLike } from "./store/port/foreign-tx.ts";
export type { DatabaseLocation, DatabaseOptions, DatabasePool } from "./store/port/location.ts";
export type { LaneLimits } from "./store/tasks/lane-limits.ts";
export type { Log, LogOption, LogOptions } from "./telemetry/log.ts";
export type { WorkOptions } from "./worker/settings.ts";
export type { LoopState, SlotState, WorkerMove, WorkerState } from "./worker/states.ts";
export type { AbortReason } from "./worker/steps/abort.ts";
export type { Worker } from "./worker/worker.ts";
export { workerDiagram } from "./worker/worker-diagram.ts";
