import type { Step } from "../../definition/language/step.ts";
import { lifecycle } from "../../definition/lifecycle.ts";
import { recordSchema, text } from "../../definition/schema/record-schema.ts";
import { breakerName, type CrowdLifecycles, marketRetry } from "../crowd-lifecycles.ts";
import type { BonusData } from "../data.ts";

/**
 * Pays a bonus to a worker. Its key derives from the submission's, so it is paid once however often it is requested.
 */
export function bonusOf(family: CrowdLifecycles) {
  return lifecycle(`pawl_bonus_${family.crowd.name}`, {
    data: recordSchema<BonusData>({ crowd: text, submission: text, worker: text, amount: text, reason: text }),
    initial: "paying",
    states: {
      paying: {
        run: async (step: Step<BonusData, { paid: undefined }>) => {
          const { submission, worker, amount, reason } = step.data;
          const bonus = { token: step.idempotencyKey, submission, worker, amount, reason };
          await family.marketplace.bonus(bonus, step);
          return step.go("paid");
        },
        uses: breakerName(family),
        retry: marketRetry,
        on: { paid: "paid" },
      },
      paid: { final: "success" },
    },
  });
}
