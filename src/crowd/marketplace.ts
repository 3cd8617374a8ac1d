import type { Json } from "../base/json.ts";
import type { AnyCrowd } from "../definition/crowd.ts";
import type { JsonSchema } from "../definition/schema/json-schema.ts";

/**
 * The port for a marketplace: a job is published with places to fill, workers submit, and each submission is decided.
 * An error fails the attempt, which is retried; a `PermanentError` ends the retries, and a `TransientError` may say
 * when to retry. Every call may be repeated after a lost reply, by this process or another: a second `publish`,
 * `extend` or `bonus` with the same token does nothing, and neither does a second `decide`, `close` or `dispose`.
 */
export interface Marketplace {
  /** The name of the marketplace in messages: "Mechanical Turk". */
  readonly title: string;
  readonly can: Capabilities;
  /** Whether it is a sandbox: no real workers, no payments. */
  readonly sandbox?: boolean;
  /** Returns what prevents this crowd from being published, each with its remedy. Called before anything runs. */
  check(crowd: AnyCrowd): readonly string[];
  publish(posting: Posting, call: MarketplaceContext): Promise<RemoteJob>;
  /** Undefined if it was deleted or never existed. */
  job(id: string, call: MarketplaceContext): Promise<RemoteJob | undefined>;
  /** Lists the jobs that Pawl has published, page by page. Used to reconcile. */
  jobs(
    after: string | undefined,
    call: MarketplaceContext,
  ): Promise<{ readonly jobs: readonly RemoteJob[]; readonly next?: string }>;
  /** Lists all submissions of a job, decided or not. */
  submissions(job: string, call: MarketplaceContext): Promise<readonly RemoteSubmission[]>;
  /** Decides a submission. Returns the decision in force, which may be an earlier one. */
  decide(submission: string, decision: Decision, call: MarketplaceContext): Promise<Decided>;
  /** Throws `CannotExtend` if this job can never have that many places: then another one is published. */
  extend(job: string, extension: Extension, call: MarketplaceContext): Promise<RemoteJob>;
  /** Stops new work; work that has begun may still be submitted. */
  close(job: string, call: MarketplaceContext): Promise<void>;
  /** Deletes it there, when it has ended and all is decided. */
  dispose(job: string, call: MarketplaceContext): Promise<void>;
  /** Pays a worker more for a submission. */
  bonus(bonus: Bonus, call: MarketplaceContext): Promise<void>;
  /** The balance for payments, such as "412.50"; null if the marketplace pays nothing. */
  balance(call: MarketplaceContext): Promise<string | null>;
  /** Releases connections and other resources. */
  shutdown(): Promise<void>;
}

/** What differs from one marketplace to another. */
export interface Capabilities {
  /** Whether the place of a rejected submission reopens by itself. */
  readonly rejectionReopens: boolean;
  readonly bonus: boolean;
}

/** How a call is made. */
export interface MarketplaceContext {
  readonly signal: AbortSignal;
}

/** A job to publish. */
export interface Posting {
  /** The same over all attempts, 64 characters at most: a second posting with it is the first. */
  readonly token: string;
  /** The instance of Pawl that it belongs to, kept with it there. */
  readonly owner: string;
  readonly crowd: AnyCrowd;
  /** What workers are shown. */
  readonly content: Json;
  /** The JSON Schema of the worker's input. */
  readonly form: JsonSchema;
  readonly places: number;
  /** How long new workers can begin. */
  readonly lifetimeMs: number;
  /** Workers who have done it elsewhere, and may not do it again. */
  readonly excludes: readonly string[];
}

/** A job as the marketplace has it. */
export interface RemoteJob {
  readonly id: string;
  /** The instance of Pawl that published it; null if unknown. */
  readonly owner: string | null;
  /** How many may submit in all. */
  readonly places: number;
  /** How many work on it, and have not submitted. */
  readonly pending: number;
  /** When it closes for workers who have not begun; null: never. */
  readonly expiresAt: Date | null;
  /** Whether a new worker can begin. */
  readonly open: boolean;
}

export interface RemoteSubmission {
  readonly id: string;
  readonly job: string;
  readonly worker: string;
  readonly status: "submitted" | "approved" | "rejected";
  /** The worker's input, which need not match the schema. */
  readonly answer: Json;
  readonly submittedAt: Date;
}

export interface Decision {
  readonly verdict: "approved" | "rejected";
  /** The feedback for the worker; required for a rejection. */
  readonly feedback: string | null;
}

export interface Decided {
  readonly verdict: "approved" | "rejected";
  /** Whether it had been decided before, by any side. */
  readonly already: boolean;
}

export interface Extension {
  /** The same for the same aim, 64 characters at most. */
  readonly token: string;
  /** The total number of places; the current number if only time is extended. */
  readonly places: number;
  /** The new time until which workers can begin, if later than the current one. */
  readonly until: Date | null;
}

export interface Bonus {
  readonly token: string;
  readonly submission: string;
  readonly worker: string;
  /** Such as "0.50". */
  readonly amount: string;
  readonly reason: string;
}

/** The job can never have that many places. */
export class CannotExtend extends Error {
  override readonly name = "CannotExtend";
}
