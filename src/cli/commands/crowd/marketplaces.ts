import type { Command } from "commander";
import type { BalanceResponse, ReconcileIssueResponse } from "../../../http/contract.ts";
import type { Act, Context } from "../../program.ts";
import { exitCodes } from "../../show/failure.ts";
import { type Column, printJson, printList, printTable } from "../../show/terminal.ts";
import type { Reached } from "../../transport/reach.ts";
import { reached } from "../reached.ts";

interface Reconciling {
  readonly marketplace?: string;
  readonly repair?: boolean;
}

/** What concerns a marketplace as a whole. */
export function addCrowdMarketplaces(crowd: Command, act: Act): void {
  crowd
    .command("balance")
    .description("show the balance of each marketplace")
    .argument("[marketplace]", "of this one only")
    .action(act((context, _, marketplace) => reached(context, (pawl) => balance(context, pawl, marketplace))));
  crowd
    .command("reconcile")
    .description("compare the marketplaces with the stored jobs; exits with 1 on a discrepancy")
    .option("--marketplace <name>", "this one only")
    .option("--repair", "close unknown postings, and sync jobs whose posting is gone")
    .action(act<Reconciling>((context, options) => reached(context, (pawl) => reconcile(context, pawl, options))));
}

async function balance({ terminal }: Context, pawl: Reached, marketplace: string | undefined): Promise<undefined> {
  const all = await inEach(pawl, marketplace, (each) => pawl.call("marketplaceBalance", { marketplace: each }));
  printList(terminal, all, balanceColumns);
}

async function reconcile({ terminal }: Context, pawl: Reached, options: Reconciling): Promise<number> {
  const { marketplace, repair } = options;
  const lists = await inEach(pawl, marketplace, (each) => pawl.call("reconcileCrowds", { marketplace: each, repair }));
  const found = lists.flat();
  if (terminal.json) printJson(terminal, found);
  else if (found.length === 0) terminal.print("No discrepancies.");
  else printTable(terminal, found, astrayColumns);
  if (found.length > 0 && repair !== true && terminal.isTty) terminal.note("  Repair them: --repair");
  return found.every(({ repaired }) => repaired) ? exitCodes.ok : exitCodes.failed;
}

/** For one marketplace, or for each that has a crowd, one after the other. */
async function inEach<T>(
  pawl: Reached,
  marketplace: string | undefined,
  work: (marketplace: string) => Promise<T>,
): Promise<T[]> {
  const known = marketplace === undefined ? await pawl.call("crowds", {}) : [{ marketplace }];
  const results: T[] = [];
  for (const each of new Set(known.map((one) => one.marketplace))) results.push(await work(each));
  return results;
}

const balanceColumns: readonly Column<BalanceResponse>[] = [
  { title: "marketplace", text: (one) => one.marketplace, shown: (one, paint) => paint.bold(one.marketplace) },
  {
    title: "balance",
    text: (one) => one.balance ?? "",
    shown: (one, paint) => one.balance ?? paint.dim("no payments"),
  },
];

const astrayColumns: readonly Column<ReconcileIssueResponse>[] = [
  { title: "marketplace", text: (one) => one.marketplace },
  { title: "what", text: (one) => one.kind },
  { title: "posting", text: (one) => one.posting },
  { title: "job", text: (one) => one.jobId ?? "" },
  {
    title: "repaired",
    text: (one) => (one.repaired ? "yes" : "no"),
    shown: (one, paint) => (one.repaired ? paint.green("yes") : paint.yellow("no")),
  },
  { title: "what is wrong", text: (one) => one.message },
];
