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
  /** The aim of the last extension: the total number of places, or the time until which it runs. */
  readonly aim: { readonly places: number | null; readonly until: string | null } | null;
  /** How often it was given more time. */
  readonly extensions: number;
  /** The asking instance has ended: submissions are still decided and paid, but no more are requested. */
  readonly closing: boolean;
  /** Something happened during the sync. */
  readonly again: boolean;
  readonly approved: number;
  readonly rejected: number;
  readonly labels: readonly Json[];
  readonly consensus: Json | null;
  readonly agreement: number | null;
  /** Why it ended with fewer submissions than requested. */
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
  /** The worker's input, and the label made of it; null until it is known to match the schema. */
  readonly answer: Json;
  readonly label: Json | null;
  readonly content: Json;
  /** The feedback for the worker. */
  readonly feedback: string | null;
  /** What the marketplace decided before Pawl did. */
  readonly there: Verdict | null;
  /** It was recovered after the decision: the marketplace may already have Pawl's decision. */
  readonly retried?: boolean;
  /** The marketplace decided before Pawl did. */
  readonly auto: boolean;
  /** Pawl's own verdict, if the marketplace decided otherwise. */
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

/** The result of a job, with the sync that ended it. */
export type Ended = {
  readonly labels: readonly Json[];
  readonly consensus: Json | null;
  readonly agreement: number | null;
  readonly approved: number;
  readonly rejected: number;
  readonly reason: string | null;
};

/** What to extend: the total number of places, or the time. */
export type Wanted = { readonly places: number | null };

export type BonusData = {
  readonly crowd: string;
  /** By its id at the marketplace. */
  readonly submission: string;
  readonly worker: string;
  readonly amount: string;
  readonly reason: string;
};
