import type { BonusPayment } from "@aws-sdk/client-mturk";
import type { Bonus, MarketplaceContext } from "../../marketplace.ts";
import { mayPrecede } from "./hit/born.ts";
import { pages } from "./pages.ts";
import { isRefused } from "./refused.ts";
import { type Requester, tokenLastsMs } from "./requester.ts";

/**
 * Pays a bonus once. The token ensures that for a day. After that, a payment of the same amount to the same worker for
 * the same submission and reason counts as this one, unless the token is younger than that payment.
 */
export async function payBonus(requester: Requester, bonus: Bonus, call: MarketplaceContext): Promise<void> {
  const { token, submission, worker, amount, reason } = bonus;
  const paid = await readPayments(requester, submission, call);
  const forgotten = requester.now() - tokenLastsMs;
  const isThis = (payment: BonusPayment) => {
    const time = payment.GrantTime?.getTime() ?? 0;
    return isFor(payment, bonus) && time < forgotten && mayPrecede(token, time);
  };
  if (paid.some(isThis)) return;
  try {
    await requester.ask(`pay a bonus for ${submission}`, call, (turk, how) =>
      turk.sendBonus(
        {
          WorkerId: worker,
          AssignmentId: submission,
          BonusAmount: amount,
          Reason: reason,
          UniqueRequestToken: token,
        },
        how,
      ),
    );
  } catch (error) {
    if (isRefused(error, "TokenUsed")) return;
    // There is no documented code for a reused token, and the message may change, so the list of payments decides.
    if (!isRefused(error, "")) throw error;
    const isPaid = (payment: BonusPayment) =>
      isFor(payment, bonus) && mayPrecede(token, payment.GrantTime?.getTime() ?? 0);
    if (!(await readPayments(requester, submission, call)).some(isPaid)) throw error;
  }
}

function isFor(payment: BonusPayment, { worker, amount, reason }: Bonus): boolean {
  return payment.WorkerId === worker && Number(payment.BonusAmount) === Number(amount) && payment.Reason === reason;
}

async function readPayments(
  requester: Requester,
  submission: string,
  call: MarketplaceContext,
): Promise<readonly BonusPayment[]> {
  const payments: BonusPayment[] = [];
  const all = pages((from) =>
    requester.ask(`list the bonuses for ${submission}`, call, (turk, how) =>
      turk.listBonusPayments({ AssignmentId: submission, ...from }, how),
    ),
  );
  for await (const { BonusPayments = [] } of all) payments.push(...BonusPayments);
  return payments;
}
