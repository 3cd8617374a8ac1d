import type { Json } from "../base/json.ts";
import {
  flag,
  json,
  listOf,
  number,
  oneOf,
  optional,
  orNull,
  record,
  recordSchema,
  text,
  whole,
} from "../definition/schema/record-schema.ts";

/** A job at the marketplace; a crowd job has more than one where the first could not be given more places. */
export type Remote = { readonly id: string; readonly places: number };

export type JobData = {
  readonly crowd: string;
  /** What workers are shown. */
  readonly content: Json;
  readonly remotes: readonly Remote[];
  /** What its last extension is for: so many places in all, or time until then. */
  readonly aim: { readonly places: number | null; readonly until: string | null } | null;
  /** How often it was given more time. */
  readonly extensions: number;
  /** Nobody waits for its answer any more: what comes in is decided and paid, and nothing more is asked for. */
  readonly closing: boolean;
  /** Something happened while it was looked at. */
  readonly again: boolean;
  readonly approved: number;
  readonly rejected: number;
  readonly labels: readonly Json[];
  readonly consensus: Json | null;
  readonly agreement: number | null;
  /** Why it ended with less than it wanted. */
  readonly reason: string | null;
};

export const jobData = recordSchema<JobData>({
  crowd: text,
  content: json,
  remotes: listOf(record<Remote>({ id: text, places: whole })),
  aim: orNull(record<NonNullable<JobData["aim"]>>({ places: orNull(whole), until: orNull(text) })),
  extensions: whole,
  closing: flag,
  again: flag,
  approved: whole,
  rejected: whole,
  labels: listOf(json),
  consensus: json,
  agreement: orNull(number),
  reason: orNull(text),
});

export type SubmissionData = {
  readonly crowd: string;
  /** The submission and its job, by their ids at the marketplace. */
  readonly submission: string;
  readonly job: string;
  readonly worker: string;
  readonly submittedAt: string;
  /** What was filled in, and what it is as a label; null until that is known to fit. */
  readonly answer: Json;
  readonly label: Json | null;
  readonly content: Json;
  /** What the worker is told. */
  readonly feedback: string | null;
  /** What the marketplace is known to have decided by itself, before Pawl did. */
  readonly there: Verdict | null;
  /** It was recovered since it was last to be decided: the marketplace may know of Pawl's decision already. */
  readonly retried?: boolean;
  /** The marketplace decided before Pawl did. */
  readonly auto: boolean;
  /** What Pawl wanted where the marketplace had decided otherwise. */
  readonly conflict: { readonly wanted: Verdict; readonly found: Verdict } | null;
  /** Why a person has to decide. */
  readonly problem: string | null;
};

export type Verdict = "approved" | "rejected";

const verdict = oneOf("approved", "rejected");

export const submissionData = recordSchema<SubmissionData>({
  crowd: text,
  submission: text,
  job: text,
  worker: text,
  submittedAt: text,
  answer: json,
  label: json,
  content: json,
  feedback: orNull(text),
  there: orNull(verdict),
  retried: optional(flag),
  auto: flag,
  conflict: orNull(record<NonNullable<SubmissionData["conflict"]>>({ wanted: verdict, found: verdict })),
  problem: orNull(text),
});

export type DisposalData = {
  readonly crowd: string;
  readonly remotes: readonly string[];
  readonly afterMs: number;
};

/** How far a job came, with the look that ended it. */
export type Ended = {
  readonly labels: readonly Json[];
  readonly consensus: Json | null;
  readonly agreement: number | null;
  readonly approved: number;
  readonly rejected: number;
  readonly reason: string | null;
};

/** What is to be had more of: so many places in all, or time. */
export type Wanted = { readonly places: number | null };

export type BonusData = {
  readonly crowd: string;
  /** By its id at the marketplace. */
  readonly submission: string;
  readonly worker: string;
  readonly amount: string;
  readonly reason: string;
};
