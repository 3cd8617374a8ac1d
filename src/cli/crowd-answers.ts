import type { Pawl } from "../pawl.ts";
import type { InJson } from "./answers.ts";

type Crowds = Pawl["crowd"];
type Answer<Verb extends "jobs" | "submissions" | "reconcile" | "counts"> = InJson<Awaited<ReturnType<Crowds[Verb]>>>;

/** What the verbs about crowds answer, as it comes over a socket: dates are ISO texts. */
export type CrowdAnswer = ReturnType<Crowds["list"]>[number] & Answer<"counts">;
export type CrowdJobAnswer = Answer<"jobs">[number];
export type SubmissionAnswer = Answer<"submissions">[number];
export type AstrayAnswer = Answer<"reconcile">[number];

export interface BalanceAnswer {
  readonly marketplace: string;
  readonly balance: string | null;
}
