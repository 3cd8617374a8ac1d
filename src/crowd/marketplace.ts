import type { Json } from "../base/json.ts";
import type { AnyCrowd } from "../definition/crowd.ts";
import type { JsonSchema } from "../definition/schema/json-schema.ts";

/**
 * Where a crowd works: a job is published there with places to fill, workers submit, and each submission is decided. What
 * it throws is an attempt that failed and is made again; a `PermanentError` is the last one, a `TransientError` may say
 * when to come again. Every call may be repeated, by this process or another, after a reply that was lost: a second
 * `publish`, `extend` or `bonus` with the same token does nothing, as a second `decide`, `close` or `dispose` does.
 */
export interface Marketplace {
  /** What it is called in messages: "Mechanical Turk". */
  readonly title: string;
  readonly can: Capabilities;
  /** It is for trying things out: nobody who works there is real, or paid. */
  readonly sandbox?: boolean;
  /** What keeps this crowd from being published here, each with its remedy; asked before anything runs. */
  check(crowd: AnyCrowd): readonly string[];
  publish(posting: Posting, call: MarketplaceContext): Promise<RemoteJob>;
  /** Undefined when it was disposed of, or never was. */
  job(id: string, call: MarketplaceContext): Promise<RemoteJob | undefined>;
  /** The jobs that Pawl has published here, a page at a time: what is left to find when something went astray. */
  jobs(
    after: string | undefined,
    call: MarketplaceContext,
  ): Promise<{ readonly jobs: readonly RemoteJob[]; readonly next?: string }>;
  /** All that was submitted for a job, whatever was decided about it. */
  submissions(job: string, call: MarketplaceContext): Promise<readonly RemoteSubmission[]>;
  /** What is decided there once it comes back, which may be another's decision that came first. */
  decide(submission: string, decision: Decision, call: MarketplaceContext): Promise<Decided>;
  /** Throws `CannotExtend` when this job can never have so many places: then another one is published beside it. */
  extend(job: string, extension: Extension, call: MarketplaceContext): Promise<RemoteJob>;
  /** Nobody new may begin; who has begun may still submit. */
  close(job: string, call: MarketplaceContext): Promise<void>;
  /** Deletes it there, when it has ended and all is decided. */
  dispose(job: string, call: MarketplaceContext): Promise<void>;
  /** Pays a worker more for a submission. */
  bonus(bonus: Bonus, call: MarketplaceContext): Promise<void>;
  /** What is left to pay workers with, such as "412.50"; null where nothing is paid. */
  balance(call: MarketplaceContext): Promise<string | null>;
  /** Lets go of what it holds. */
  end(): Promise<void>;
}

/** What differs from one marketplace to another. */
export interface Capabilities {
  /** A place whose submission was rejected is free again by itself. */
  readonly rejectionReopens: boolean;
  readonly bonus: boolean;
}

/** How a call is made. */
export interface MarketplaceContext {
  readonly signal: AbortSignal;
}

/** What is published. */
export interface Posting {
  /** The same over all attempts, 64 characters at most: a second posting with it is the first. */
  readonly token: string;
  /** The instance of Pawl that it belongs to, kept with it there. */
  readonly owner: string;
  readonly crowd: AnyCrowd;
  /** What workers are shown. */
  readonly content: Json;
  /** The JSON Schema of what they fill in. */
  readonly form: JsonSchema;
  readonly places: number;
  /** How long somebody new may begin. */
  readonly lifetimeMs: number;
  /** Workers who have done it elsewhere, and may not do it again. */
  readonly excludes: readonly string[];
}

/** A job as the marketplace has it. */
export interface RemoteJob {
  readonly id: string;
  /** The instance of Pawl that published it; null when that cannot be told. */
  readonly owner: string | null;
  /** How many may submit in all. */
  readonly places: number;
  /** How many work on it, and have not submitted. */
  readonly pending: number;
  /** When it ends for whoever has not begun; null: never. */
  readonly expiresAt: Date | null;
  /** Somebody may begin. */
  readonly open: boolean;
}

export interface RemoteSubmission {
  readonly id: string;
  readonly job: string;
  readonly worker: string;
  readonly status: "submitted" | "approved" | "rejected";
  /** What was filled in, which need not fit the form. */
  readonly answer: Json;
  readonly submittedAt: Date;
}

export interface Decision {
  readonly verdict: "approved" | "rejected";
  /** What the worker is told; a rejection needs it. */
  readonly feedback: string | null;
}

export interface Decided {
  readonly verdict: "approved" | "rejected";
  /** It had been decided before, by whomever. */
  readonly already: boolean;
}

export interface Extension {
  /** The same for the same aim, 64 characters at most. */
  readonly token: string;
  /** How many places it is to have in all; as many as it has, when only time is wanted. */
  readonly places: number;
  /** Until when somebody new may begin, if that is to be later than it is. */
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

/** The job can never have as many places as it should. */
export class CannotExtend extends Error {
  override readonly name = "CannotExtend";
}
