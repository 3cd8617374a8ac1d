import type { AnyCrowd } from "../definition/crowd.ts";
import type { Facts, Lifecycle } from "../definition/language/public-types.ts";
import type { LifecycleModel } from "../definition/model.ts";
import { exponential, type RetryPolicy } from "../policy/retry.ts";
import type { BonusData, DisposalData, JobData, SubmissionData, Verdict } from "./data.ts";
import type { Marketplace } from "./marketplace.ts";

/** A lifecycle of a crowd as the others know it: its data, and the events that they send. */
type KnownLifecycle<Data, Events extends Facts["events"]> = Lifecycle<{
  readonly name: string;
  readonly data: Data;
  readonly input: Data;
  readonly state: string;
  readonly events: Events;
}>;

type Job = KnownLifecycle<JobData, { progress: undefined }>;
export type Submission = KnownLifecycle<SubmissionData, { decided: { verdict: Verdict }; overridden: undefined }>;
type Disposal = KnownLifecycle<DisposalData, { dispose: undefined }>;
type Bonus = KnownLifecycle<BonusData, { paid: undefined }>;

/** A crowd, its marketplace, and its lifecycles. */
export interface CrowdLifecycles {
  readonly crowd: AnyCrowd;
  readonly marketplace: Marketplace;
  readonly job: Job;
  readonly submission: Submission;
  readonly disposal: Disposal;
  readonly bonus: Bonus;
}

/** How a call of the marketplace is tried again: for half an hour, since some of them need minutes to see their own work. */
export const marketRetry: RetryPolicy = {
  maxAttempts: 8,
  backoff: exponential({ first: "5s", factor: 3, cap: "10m" }),
};

export function lifecyclesOf({ job, submission, disposal, bonus }: CrowdLifecycles): LifecycleModel[] {
  return [job, submission, disposal, bonus];
}

/** The breaker of a marketplace. */
export function breakerName({ crowd }: Pick<CrowdLifecycles, "crowd">): string {
  return `marketplace-${crowd.marketplace}`;
}
