import type { AnyCrowd } from "../definition/crowd.ts";
import type { LifecycleModel } from "../definition/model.ts";
import { exponential, type RetryPolicy } from "../policy/retry.ts";
import { type Disposal, disposalOf } from "./job/disposal.ts";
import { type Job, jobOf } from "./job/job.ts";
import type { Marketplace } from "./marketplace.ts";
import { type Bonus, bonusOf } from "./submission/bonus.ts";
import { type Submission, submissionOf } from "./submission/submission.ts";

/** A crowd with the marketplace that it is asked on, and the lifecycles of its jobs. */
export interface Family {
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

/** The lifecycles of a crowd. They are its own, so that a worker serves the crowds that it declares and no others. */
export function familyOf(crowd: AnyCrowd, marketplace: Marketplace): Family {
  const family = { crowd, marketplace } as { -readonly [Key in keyof Family]: Family[Key] };
  family.disposal = disposalOf(family);
  family.bonus = bonusOf(family);
  family.submission = submissionOf(family);
  family.job = jobOf(family);
  return family;
}

export function lifecyclesOf({ job, submission, disposal, bonus }: Family): LifecycleModel[] {
  return [job, submission, disposal, bonus];
}

/** The breaker of a marketplace. */
export function breakerName({ crowd }: Pick<Family, "crowd">): string {
  return `marketplace-${crowd.marketplace}`;
}
