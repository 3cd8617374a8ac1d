import { PawlError } from "../base/errors.ts";
import { compute } from "../base/guard.ts";
import { settleWithin } from "../kernel/time-limit.ts";
import type { Marketplace, MarketplaceContext } from "./marketplace.ts";

/** Long for a call that reads many pages, or that waits for the marketplace to see its own work. */
const callLimitMs = 5 * 60_000;

const guarded = new WeakMap<Marketplace, Marketplace>();

/**
 * Wraps a marketplace: calls end within five minutes and return valid values, or throw `hook_failed`, which fails the
 * attempt of the step that made the call. The same marketplace always gives the same object.
 */
export function guardMarketplace(marketplace: Marketplace): Marketplace {
  const known = guarded.get(marketplace);
  if (known !== undefined) return known;
  const made = guard(marketplace);
  guarded.set(marketplace, made);
  return made;
}

function guard(marketplace: Marketplace): Marketplace {
  const { title, can, sandbox } = marketplace;
  const called = (name: string) => `\`${name}\` of ${title}`;
  async function make<Value>(
    name: string,
    call: MarketplaceContext,
    work: (call: MarketplaceContext) => PromiseLike<Value>,
    isValid: (value: unknown) => boolean,
  ): Promise<Value> {
    const over = new AbortController();
    const signal = AbortSignal.any([call.signal, over.signal]);
    try {
      const value = await settleWithin(callLimitMs, called(name), () => work({ signal }));
      if (isValid(value)) return value;
    } finally {
      over.abort(); // Aborts the call, which has timed out.
    }
    throw new PawlError("hook_failed", `${called(name)} returned an invalid value.`);
  }
  return {
    title,
    can,
    ...(sandbox !== undefined && { sandbox }),
    check(crowd) {
      const problems: unknown = compute("hook_failed", called("check"), () => marketplace.check(crowd));
      if (isListOf(problems, isText)) return problems as string[];
      throw new PawlError("hook_failed", `${called("check")} did not return a list of strings.`);
    },
    publish: (posting, call) => make("publish", call, (within) => marketplace.publish(posting, within), isJob),
    job: (id, call) => make("job", call, (within) => marketplace.job(id, within), isJobOrNone),
    jobs: (after, call) =>
      make(
        "jobs",
        call,
        (within) => marketplace.jobs(after, within),
        (page) => isPageAfter(page, after),
      ),
    submissions: (job, call) =>
      make(
        "submissions",
        call,
        (within) => marketplace.submissions(job, within),
        (all) => isListOf(all, isSubmission),
      ),
    decide: (submission, decision, call) =>
      make("decide", call, (within) => marketplace.decide(submission, decision, within), isDecided),
    extend: (job, extension, call) =>
      make("extend", call, (within) => marketplace.extend(job, extension, within), isJob),
    close: (job, call) => make("close", call, (within) => marketplace.close(job, within), isAnything),
    dispose: (job, call) => make("dispose", call, (within) => marketplace.dispose(job, within), isAnything),
    bonus: (bonus, call) => make("bonus", call, (within) => marketplace.bonus(bonus, within), isAnything),
    balance: (call) =>
      make(
        "balance",
        call,
        (within) => marketplace.balance(within),
        (left) => left === null || isText(left),
      ),
    shutdown: () => marketplace.shutdown(),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function isAnything(): boolean {
  return true;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function isId(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

function isJob(value: unknown): boolean {
  return (
    isRecord(value) &&
    isId(value.id) &&
    (value.owner === null || isText(value.owner)) &&
    isCount(value.places) &&
    isCount(value.pending) &&
    typeof value.open === "boolean"
  );
}

function isJobOrNone(value: unknown): boolean {
  return value === undefined || isJob(value);
}

/** A page that leads to itself would be read without end. */
function isPageAfter(value: unknown, after: string | undefined): boolean {
  if (!isRecord(value) || !isListOf(value.jobs, isJob)) return false;
  return value.next === undefined || (isText(value.next) && value.next !== after);
}

function isSubmission(value: unknown): boolean {
  return (
    isRecord(value) &&
    isId(value.id) &&
    isId(value.job) &&
    isText(value.worker) &&
    ["submitted", "approved", "rejected"].includes(value.status as string) &&
    value.submittedAt instanceof Date &&
    !Number.isNaN(value.submittedAt.getTime())
  );
}

function isDecided(value: unknown): boolean {
  return (
    isRecord(value) && ["approved", "rejected"].includes(value.verdict as string) && typeof value.already === "boolean"
  );
}
