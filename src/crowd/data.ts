import type { Json } from "../base/json.ts";

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
  /** The marketplace decided before Pawl did. */
  readonly auto: boolean;
  /** What Pawl wanted where the marketplace had decided otherwise. */
  readonly conflict: { readonly wanted: Verdict; readonly found: Verdict } | null;
  /** Why a person has to decide. */
  readonly problem: string | null;
};

export type Verdict = "approved" | "rejected";

export type DisposalData = {
  readonly crowd: string;
  readonly remotes: readonly string[];
  readonly afterMs: number;
};
