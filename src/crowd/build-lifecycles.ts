import type { AnyCrowd } from "../definition/crowd.ts";
import type { Family } from "./crowd-lifecycles.ts";
import { disposalOf } from "./job/disposal.ts";
import { jobOf } from "./job/job.ts";
import type { Marketplace } from "./marketplace.ts";
import { bonusOf } from "./submission/bonus.ts";
import { submissionOf } from "./submission/submission.ts";

/** The lifecycles of a crowd. They are its own, so that a worker serves the crowds that it declares and no others. */
export function familyOf(crowd: AnyCrowd, marketplace: Marketplace): Family {
  const family = { crowd, marketplace } as { -readonly [Key in keyof Family]: Family[Key] };
  family.disposal = disposalOf(family);
  family.bonus = bonusOf(family);
  family.submission = submissionOf(family);
  family.job = jobOf(family);
  return family;
}
