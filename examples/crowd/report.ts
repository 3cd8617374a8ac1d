import picocolors from "picocolors";
import { aligned } from "../terminal.ts";
import { papers, round } from "./papers.ts";
import { reward } from "./receipts.ts";
import type { Asking, Result } from "./simulation.ts";

const { bold, dim, green, red, yellow } = picocolors;

/** The invariants of the example. */
export interface Check {
  readonly holds: boolean;
  readonly says: string;
}

/** The result of a simulation. */
export function reportOf(result: Result): string {
  const checks = checksOf(result).map(({ holds, says }) => `  ${holds ? green("✓") : red("✗")} ${says}`);
  const parts = [receiptsPart(result), workersPart(result), troublePart(result), checks];
  return [...parts.flatMap((part) => ["", ...part]), ""].join("\n");
}

function receiptsPart({ askings }: Result): string[] {
  const read = askings.filter(({ receipt }) => receipt.state === "read");
  const right = read.filter((one) => one.receipt.data.total === paperOf(one)?.total);
  const rows = askings.map(({ receipt, job, submissions }) => [
    receipt.data.shop,
    receipt.state === "read" ? receipt.data.total!.toFixed(2) : "–",
    String(submissions.length),
    String(job.approved),
    String(job.rejected),
    job.agreement === null ? "–" : job.agreement.toFixed(2),
  ]);
  const lines = aligned([["", "total", "submitted", "approved", "rejected", "agreement"], ...rows]);
  const why = askings.flatMap(({ receipt: { data } }) =>
    data.why === undefined ? [] : [`  ${yellow(data.shop)}: ${data.why}`],
  );
  const summary = `${askings.length} receipts: ${read.length} read, ${right.length} of them right; ${why.length} fell short.`;
  return [`  ${bold(summary)}`, ...headed(lines), ...why];
}

function paperOf({ receipt }: Asking) {
  return papers.find(({ key }) => receipt.key!.endsWith(`-${key}`));
}

function workersPart({ askings, workers, bonuses }: Result): string[] {
  const all = askings.flatMap(({ submissions }) => submissions);
  const rows = [...workers].map(([name, { submitted, returned, vanished }]) => {
    const count = (state: string) => all.filter((one) => one.worker === name && one.state === state).length;
    const bonus = bonuses.filter((one) => one.worker === name).reduce((sum, { amount }) => sum + Number(amount), 0);
    const earned = round(count("approved") * Number(reward) + bonus).toFixed(2);
    return [name, ...[submitted, count("approved"), count("rejected"), returned, vanished].map(String), earned];
  });
  return headed(aligned([["", "submitted", "approved", "rejected", "returned", "vanished", "earned"], ...rows]));
}

function troublePart({ askings, calls, post, operator }: Result): string[] {
  const all = askings.flatMap(({ submissions }) => submissions);
  const again = (one: { calls: number; different: number }) => one.calls - one.different;
  const auto = all.filter((one) => one.auto);
  const conflicts = all.filter((one) => one.conflict !== null);
  const rows: [string, string | number][] = [
    ["replies lost", again(calls.publish) + again(calls.extend) + again(calls.decide) + again(calls.bonus)],
    ["notifications", `${post.sent} sent, ${post.lost} lost, ${post.twice} twice, ${post.inVain} for nothing`],
    ["decided by the operator", operator.decided],
    ["paid there before Pawl said so", auto.length],
    ["and against its will", conflicts.length],
  ];
  const width = Math.max(...rows.map(([title]) => title.length));
  return rows.map(([title, text]) => `  ${dim(title.padEnd(width))}  ${text}`);
}

function headed([head, ...lines]: string[]): string[] {
  return [dim(head!), ...lines];
}

export function checksOf(result: Result): Check[] {
  return [answered(result), publishedOnce(result), paidOnce(result), bonusOnce(result), verified(result)];
}

function answered({ askings }: Result): Check {
  const holds =
    askings.length === papers.length &&
    askings.every(({ receipt: { state, data } }) =>
      state === "read" ? data.total !== undefined : state === "unread" && (data.why ?? "") !== "",
    );
  return { holds, says: "Every question was answered, or fell short and says why." };
}

function publishedOnce({ askings, there, calls }: Result): Check {
  const known = askings.flatMap(({ job }) => job.postings.map(({ id }) => id));
  const holds = same(
    known,
    there.postings.map(({ id }) => id),
  );
  const { publish } = calls;
  const says = `Nothing was published twice: ${there.postings.length} postings for ${publish.different} questions, asked for ${publish.calls} times.`;
  return { holds: holds && publish.different === there.postings.length, says };
}

/** The marketplace pays every approved submission. */
function paidOnce({ askings, there }: Result): Check {
  const all = askings.flatMap(({ submissions }) => submissions);
  const paid = there.submissions.filter(({ status }) => status === "approved");
  const approved = all.filter(({ state }) => state === "approved");
  const once = new Set(approved.map(({ posting, worker }) => `${posting} ${worker}`)).size === approved.length;
  const holds = same(
    approved.map(({ submission }) => submission),
    paid.map(({ id }) => id),
  );
  const undecided = there.submissions.filter(({ status }) => status === "submitted").length;
  const says = `Nobody was paid twice, nobody forgotten: ${there.submissions.length} submissions, ${paid.length} paid there, ${approved.length} approved here, ${undecided} undecided.`;
  return { holds: holds && once && undecided === 0 && all.length === there.submissions.length, says };
}

function bonusOnce({ bonuses, calls }: Result): Check {
  const says = `The bonus was paid once, though it was asked for ${calls.bonus.calls} times.`;
  return { holds: bonuses.length === 1, says };
}

function verified({ violations }: Result): Check {
  const says =
    violations.length === 0 ? "All that is stored is verified." : violations.map((one) => one.message).join(" ");
  return { holds: violations.length === 0, says };
}

function same(some: readonly string[], others: readonly string[]): boolean {
  return [...some].sort().join() === [...others].sort().join();
}
