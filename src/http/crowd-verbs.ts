import { PawlError } from "../base/errors.ts";
import type { Pawl } from "../pawl.ts";
import { causeOf, type Verb } from "./named.ts";
import type { Arguments } from "./request.ts";

type Crowds = Pawl["crowd"];
type Job = NonNullable<Awaited<ReturnType<Crowds["job"]>>>;
type JobsPage = NonNullable<Parameters<Crowds["jobs"]>[1]>;
type SubmissionsPage = NonNullable<Parameters<Crowds["submissions"]>[1]>;

const cause = ["actor", "reason"];
const page = ["state", "limit", "after"];
/** A crowd job is meant by its id, or by its crowd and key. */
const job = ["id", "crowd", "key"];

/** The verbs about crowds. */
export const crowdVerbs: readonly (readonly [string, Verb])[] = [
  ["crowds", { takes: [], answer: crowds }],
  ["askCrowd", { takes: ["crowd", "content", "key", ...cause], answer: ask }],
  ["crowdJobs", { takes: ["crowd", ...page], answer: jobs }],
  ["crowdJob", { takes: job, answer: jobIn }],
  ["submissions", { takes: [...job, ...page], answer: submissions }],
  ["submission", { takes: ["id"], answer: submission }],
  ["approveSubmission", { takes: ["id", "feedback", ...cause], answer: approve }],
  ["rejectSubmission", { takes: ["id", "feedback", ...cause], answer: reject }],
  [
    "retrySubmission",
    { takes: ["id", ...cause], answer: ({ crowd }, args) => crowd.retry(args.text("id"), causeOf(args)) },
  ],
  ["lookAtCrowdJob", { takes: [...job, ...cause], answer: look }],
  ["closeCrowdJob", { takes: [...job, ...cause], answer: close }],
  ["discardCrowdJob", { takes: [...job, ...cause], answer: discard }],
  ["noticePosting", { takes: ["marketplace", "posting"], answer: notice }],
  ["payBonus", { takes: ["id", "amount", "reason", "key", "actor"], answer: payBonus }],
  ["crowdBalance", { takes: ["marketplace"], answer: balance }],
  ["marketplaceBalance", { takes: ["marketplace"], answer: balanceOf }],
  ["reconcileCrowds", { takes: ["marketplace", "mend"], answer: reconcile }],
];

/** Each crowd with its marketplace, and how many stand where. */
async function crowds({ crowd }: Pawl): Promise<unknown[]> {
  const all = [];
  for (const one of crowd.list()) all.push({ ...one, ...(await crowd.counts(one.name)) });
  return all;
}

function ask({ crowd }: Pawl, args: Arguments): unknown {
  const [content, key] = [args.value("content"), args.optionalText("key")];
  return crowd.ask(args.text("crowd"), { content, key, ...causeOf(args) });
}

function jobs({ crowd }: Pawl, args: Arguments): unknown {
  const options = pageOf(args) as JobsPage;
  return ofEach(crowd, args, (name) => crowd.jobs(name, options));
}

/** Of one job, of one crowd, or of them all. */
async function submissions(pawl: Pawl, args: Arguments): Promise<unknown> {
  const { crowd } = pawl;
  const options = pageOf(args) as SubmissionsPage;
  if (args.has("id") || args.has("key")) return crowd.submissions({ job: await jobIdIn(pawl, args) }, options);
  return ofEach(crowd, args, (name) => crowd.submissions(name, options));
}

/** What is listed for one crowd, or for all of them as one list: ids rise with time, so the newest come first. */
async function ofEach<One extends { readonly id: string }>(
  crowd: Crowds,
  args: Arguments,
  read: (name: string) => Promise<One[]>,
): Promise<One[]> {
  if (args.has("crowd")) return read(args.text("crowd"));
  const found: One[] = [];
  for (const { name } of crowd.list()) found.push(...(await read(name)));
  return found.sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, args.number("limit") ?? 100);
}

async function jobIn({ crowd }: Pawl, args: Arguments): Promise<Job> {
  if (args.has("key")) {
    const [of, key] = [args.text("crowd"), args.text("key")];
    const found = await crowd.job({ crowd: of, key });
    if (found !== undefined) return found;
    const remedy = "A job that a state asked for is named by its id.";
    return unknown(`The crowd \`${of}\` was not asked with the key \`${key}\`. ${remedy}`, { crowd: of, key });
  }
  const id = args.text("id");
  return (await crowd.job(id)) ?? unknown(`There is no crowd job ${id}.`, { id });
}

async function jobIdIn(pawl: Pawl, args: Arguments): Promise<string> {
  return args.has("key") ? (await jobIn(pawl, args)).id : args.text("id");
}

async function submission({ crowd }: Pawl, args: Arguments): Promise<unknown> {
  const id = args.text("id");
  return (await crowd.submission(id)) ?? unknown(`There is no submission ${id}.`, { id });
}

function approve({ crowd }: Pawl, args: Arguments): unknown {
  return crowd.approve(args.text("id"), { feedback: args.optionalText("feedback"), ...causeOf(args) });
}

function reject({ crowd }: Pawl, args: Arguments): unknown {
  return crowd.reject(args.text("id"), { feedback: args.text("feedback"), ...causeOf(args) });
}

async function look(pawl: Pawl, args: Arguments): Promise<unknown> {
  return pawl.crowd.look(await jobIdIn(pawl, args), causeOf(args));
}

async function close(pawl: Pawl, args: Arguments): Promise<unknown> {
  return pawl.crowd.close(await jobIdIn(pawl, args), causeOf(args));
}

async function discard(pawl: Pawl, args: Arguments): Promise<unknown> {
  return pawl.crowd.discard(await jobIdIn(pawl, args), causeOf(args));
}

async function notice({ crowd }: Pawl, args: Arguments): Promise<unknown> {
  return { ours: await crowd.notice(args.text("marketplace"), args.text("posting")) };
}

function payBonus({ crowd }: Pawl, args: Arguments): unknown {
  const [amount, reason] = [args.text("amount"), args.text("reason")];
  const [key, actor] = [args.optionalText("key"), args.optionalText("actor")];
  return crowd.bonus(args.text("id"), { amount, reason, key, actor });
}

/** Of one marketplace, or of each on which a crowd is asked. */
async function balance({ crowd }: Pawl, args: Arguments): Promise<unknown[]> {
  const all = new Set(crowd.list().map(({ marketplace }) => marketplace));
  const wanted = args.has("marketplace") ? [args.text("marketplace")] : [...all];
  return Promise.all(wanted.map(async (marketplace) => ({ marketplace, balance: await crowd.balance(marketplace) })));
}

async function balanceOf({ crowd }: Pawl, args: Arguments): Promise<unknown> {
  const marketplace = args.text("marketplace");
  return { marketplace, balance: await crowd.balance(marketplace) };
}

function reconcile({ crowd }: Pawl, args: Arguments): unknown {
  const marketplace = args.optionalText("marketplace");
  return crowd.reconcile({ mend: args.flag("mend"), ...(marketplace !== undefined && { marketplace }) });
}

function pageOf(args: Arguments): { state?: string[]; limit?: number; after?: { id: string } } {
  const after = args.optionalText("after");
  return {
    state: args.texts("state"),
    limit: args.number("limit"),
    after: after === undefined ? undefined : { id: after },
  };
}

function unknown(message: string, details: Readonly<Record<string, unknown>>): never {
  throw new PawlError("instance_unknown", message, details);
}
