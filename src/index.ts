export { logAlerts } from "./alerts/log-alerts.ts";
export type { Alert, AlertSink, AlertTarget } from "./alerts/sink.ts";
export { type WebhookAlertsOptions, webhookAlerts } from "./alerts/webhook-alerts.ts";
export { defineConfig, type HttpConfig, type HttpLimits, type PawlConfig } from "./api/config.ts";
export { createPawl, type PawlOptions } from "./api/create.ts";
export type {
  CallbacksOptions,
  EnqueueArguments,
  EnqueueItem,
  EnqueueOptions,
  ForceBreakerOptions,
  InstanceRef,
  JobsOptions,
  LanesOptions,
  ListOptions,
  PauseOptions,
  PublishOptions,
  ReceiveArguments,
  ReceiveOptions,
  ReportedError,
  ResumeOptions,
  SendArguments,
  SendItem,
  SendOptions,
  StuckOptions,
  TokenReceiveOptions,
} from "./api/options.ts";
export { Pawl } from "./api/pawl.ts";
export type {
  AttemptEntry,
  Callback,
  Children,
  Instance,
  JournalEntry,
  Progress,
  ReceivedCallback,
  ScheduleStatus,
  SendResult,
  StartedInstance,
} from "./api/results.ts";
export type { Duration } from "./base/duration.ts";
export { type ErrorCode, isPawlError, PawlError } from "./base/errors.ts";
export type { Json } from "./base/json.ts";
export { CircuitOpenError, PermanentError, RejectSubmission, TransientError } from "./base/step-errors.ts";
export type { CrowdCounts, CrowdPageOptions, Crowds, ListedCrowd } from "./crowd/crowds.ts";
export type { Marketplaces } from "./crowd/families.ts";
export type {
  AskOptions,
  BonusOptions,
  CrowdCallOptions,
  CrowdRef,
  DecideOptions as DecideSubmissionOptions,
} from "./crowd/given.ts";
export {
  type Bonus,
  CannotExtend,
  type Capabilities as Abilities,
  type Decided,
  type Decision,
  type Extension,
  type Marketplace,
  type MarketplaceContext as Call,
  type Posting,
  type RemoteJob,
  type RemoteSubmission,
} from "./crowd/marketplace.ts";
export {
  type MarketplaceCall,
  type MarketplaceFault,
  type MemoryMarketplace,
  type MemoryMarketplaceOptions,
  memoryMarketplace,
} from "./crowd/marketplaces/memory.ts";
export type { MemoryAssignment, MemoryJob } from "./crowd/marketplaces/memory-jobs.ts";
export type { MemoryWorkers } from "./crowd/marketplaces/memory-workers.ts";
export type { ReconcileIssue } from "./crowd/reconcile.ts";
export type { CrowdJob, CrowdJobState, CrowdSubmission, SubmissionState } from "./crowd/shown.ts";
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
} from "./dead-letters/given.ts";
export type { Operations } from "./dead-letters/operations.ts";
export type { DeadLetterOptions } from "./dead-letters/settings.ts";
export type {
  ArchivedFile,
  DeadLetter,
  DeadLetterGroup,
  DecisionPreview,
  Operation,
  Ticket,
} from "./dead-letters/shown.ts";
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
export type { Blocker } from "./definition/decide/decide.ts";
export type {
  ExplainedFailure,
  ExplainedRetry,
  NextRecoveryStep,
  RecoveryExplanation,
} from "./definition/decide/explain.ts";
export type { Permission } from "./definition/decide/permissions.ts";
export { type DiagramOptions, diagram, diagramSvg } from "./definition/diagram.ts";
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
export type {
  AnyLifecycle,
  DataOf,
  EventOf,
  Lifecycle,
  PayloadOf,
  StartDataOf,
  StateOf,
} from "./definition/language/face.ts";
export type { HookTransaction } from "./definition/language/language.ts";
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
export type { Context, RetryRule } from "./definition/model.ts";
export {
  type AnyQueue,
  type LabelContext,
  type LabelVerdict,
  type Queue,
  queue,
} from "./definition/queue.ts";
export type { QueueOptions, QueueOrder, QueueSettings, RankedSample, RankOf } from "./definition/queue-settings.ts";
export type { Fault, FaultCode } from "./definition/read/fault.ts";
export { type AnySchedule, type Schedule, schedule, type Tick } from "./definition/schedule/schedule.ts";
export type { JsonSchema } from "./definition/schema/json-schema.ts";
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
export type { StuckGroup, StuckInstance } from "./inspect/stuck/stuck-group.ts";
export type { VerifyOptions, Violation } from "./inspect/verify/verify.ts";
export type { Breaker, BreakerFlip } from "./kernel/breakers/verbs.ts";
export type { AlertRaisedEvent, DeadLetteredEvent, MovedEvent, PawlEvents } from "./kernel/events.ts";
export type { ClosedLane, Lane } from "./kernel/lanes/show-lanes.ts";
export type { Aggregate } from "./kernel/move/publish.ts";
export type { BrokerDeadMessage } from "./kernel/recovery/broker-letters.ts";
export type { StuckAfterOptions } from "./kernel/stuck-after.ts";
export type { JobStatus } from "./kernel/tasks/jobs.ts";
export type { WorkerInfo } from "./kernel/tasks/workers.ts";
export type { CallOptions, StartCallOptions } from "./kernel/types/call-options.ts";
export { type Broker, BrokerAway, type DeadLetterSource, type OutboxMessage } from "./outbox/broker.ts";
export { type MemoryBroker, type MemoryBrokerOptions, memoryBroker } from "./outbox/brokers/memory.ts";
export {
  signWebhook,
  verifyWebhook,
  type WebhookFault,
  type WebhookHeaders,
} from "./outbox/brokers/webhooks/signature.ts";
export {
  type WebhookEndpoint,
  WebhooksBroker,
  type WebhooksOptions,
  webhooks,
} from "./outbox/brokers/webhooks/webhooks.ts";
export type {
  DeadMessages,
  MessageFilter,
  Outbox,
  OutboxLag,
  OutboxTypeStatus,
  StoredMessage,
} from "./outbox/outbox.ts";
export { Relay, type RelayCounts } from "./outbox/relay.ts";
export type { RelayOptions } from "./outbox/settings.ts";
export type { DeskQueue, DeskWork, Draft, LabelersDesk } from "./people/desk.ts";
export type { Imported, Quality } from "./people/files.ts";
export {
  type CsvExportOptions,
  type LabelRow,
  type LabelRows,
  labelsToCsv,
  labelsToJsonl,
} from "./people/formats/export-labels.ts";
export {
  type ColumnKind,
  type CsvImportOptions,
  type ImportedLine,
  type ImportOptions,
  type SampleRow,
  samplesFromCsv,
  samplesFromJsonl,
} from "./people/formats/import-samples.ts";
export { type LabelStudioOptions, labelsToLabelStudio } from "./people/formats/label-studio.ts";
export type { ByteStream, ImportCursor } from "./people/formats/lines.ts";
export type {
  AddOptions,
  LeadOptions,
  MetricsOptions,
  PageOptions,
  PeopleCallOptions,
  QueueRef,
  ReviewOptions,
  SampleRef,
} from "./people/given.ts";
export type { NoWorkReason as Empty } from "./people/handing-out/explain.ts";
export type { Next } from "./people/handing-out/hand-out.ts";
export type { WorkMove } from "./people/journal.ts";
export type { LabelFault } from "./people/labels/label-faults.ts";
export type { QueueLoad } from "./people/loads.ts";
export type { Metrics } from "./people/metrics.ts";
export { type AddedSample, type Labeler, People, type SampleHistory } from "./people/people.ts";
export type { QueueInfo, RunTimeQueue } from "./people/queues.ts";
export type { Rejected } from "./people/review/review.ts";
export type { NewSample } from "./people/samples.ts";
export type { Assignment, Label, Sample, SampleInfo, SampleState } from "./people/shown.ts";
export type { Submitted } from "./people/work.ts";
export {
  type Agreement,
  agreementByLabeler,
  agreementOf,
  type FieldAgreement,
  type LabelerAgreement,
} from "./policy/agreement/agreement.ts";
export { krippendorffAlpha, type Scale } from "./policy/agreement/alpha.ts";
export { type Consensus, consensusOf, type FieldConsensus } from "./policy/agreement/consensus.ts";
export {
  type ClassEstimate,
  type DawidSkene,
  type DawidSkeneOptions,
  dawidSkene,
  type LabelerEstimate,
} from "./policy/agreement/dawid-skene.ts";
export { accuracyOnGold, type GoldAccuracy, wilsonInterval } from "./policy/agreement/gold.ts";
export { cohensKappa, fleissKappa, type KappaWeights } from "./policy/agreement/kappa.ts";
export { type GivenLabel, pickField } from "./policy/agreement/label-columns.ts";
export type { Answer, LabelShape } from "./policy/agreement/label-shape.ts";
export { labelShape } from "./policy/agreement/schema-shape.ts";
export type { BreakerOptions } from "./policy/breaker.ts";
export { constant, exponential, isNetworkError, type RetryPolicy } from "./policy/retry.ts";
export { fromDrizzle, fromKysely, fromPrisma, type TransactionLike } from "./store/port/foreign-tx.ts";
export type { AbortReason } from "./worker/abort.ts";
export type { WorkOptions } from "./worker/settings.ts";
export type { LoopState, SlotState, WorkerMove } from "./worker/states.ts";
export { Worker } from "./worker/work.ts";
export { workerDiagram } from "./worker/worker-diagram.ts";
