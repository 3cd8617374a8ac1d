import type { AnyCrowd } from "../definition/crowd.ts";
import type { CrowdLifecycles } from "./crowd-lifecycles.ts";
import { disposalOf } from "./job/disposal.ts";
import { jobOf } from "./job/job.ts";
import type { Marketplace } from "./marketplace.ts";
import { bonusOf } from "./submission/bonus.ts";
import { submissionOf } from "./submission/submission.ts";

/** The lifecycles of a crowd. They are its own, so that a worker serves the crowds that it declares and no others. */
export function buildCrowdLifecycles(crowd: AnyCrowd, marketplace: Marketplace): CrowdLifecycles {
  const family = { crowd, marketplace } as { -readonly [Key in keyof CrowdLifecycles]: CrowdLifecycles[Key] };
  family.disposal = disposalOf(family);
  family.bonus = bonusOf(family);
  family.submission = submissionOf(family);
  family.job = jobOf(family);
  return family;
}
