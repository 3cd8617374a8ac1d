import { setTimeout as rest } from "node:timers/promises";
import { createPawl, type DeadLetter, type Instance, type Pawl, type Violation } from "pawl";
import { callbackReader } from "./callback.ts";
import type { Exchange } from "./exchange.ts";
import type { Deed, Trouble } from "./grader/grader.ts";
import { handedIn } from "./learners.ts";
import { type SubmissionLifecycle, submissionLifecycle } from "./submission.ts";

/** The faults of the grader. */
export type Ordeal = Trouble | "down";

export interface SimulationOptions {
  /** How many submissions there are; at most 1,000. */
  readonly submissions: number;
  /** The faults of the grader, one after the other, during the submissions. */
  readonly ordeals: readonly Ordeal[];
  readonly minuteMs: number;
  /** A PostgreSQL URL; without one, the database is embedded in `folder`. */
  readonly database: string | undefined;
  readonly folder: string;
}

type Submission = Instance<SubmissionLifecycle>;

/** The state at one moment. */
export interface Look {
  readonly counts: ReadonlyMap<string, number>;
  readonly submissions: number;
  readonly ordeal: Ordeal;
  readonly openRequests: number;
  readonly waiting: number;
  readonly lateKept: number;
  readonly deadLetters: number;
  /** The news since the last poll. */
  readonly news: readonly string[];
  readonly isOver: boolean;
}

/** The result. */
export interface Result {
  readonly submissions: number;
  readonly bySkill: readonly {
    readonly skill: string;
    readonly handedIn: number;
    readonly graded: number;
    /** Late results that were kept, and how many of them an instructor accepted. */
    readonly late: number;
    readonly accepted: number;
  }[];
  /** Those that stay failed, by the reason. */
  readonly failed: ReadonlyMap<string, number>;
  /** Dead messages: unusable callbacks. */
  readonly deadMessages: readonly { readonly reason: string; readonly count: number }[];
  readonly deeds: ReadonlyMap<Deed, number>;
  readonly kills: number;
  readonly heldWhenKilled: number;
  readonly requests: number;
  readonly recoveries: number;
  readonly duplicates: number;
  readonly gradedTwice: readonly string[];
  readonly lost: readonly string[];
  readonly violations: readonly Violation[];
}

/** How long submissions come in, and how long the grader is down. */
const overMinutes = 18;
const downMinutes = 3;

/** Submissions and all that happens to them, with the grader behind an exchange. */
export class Simulation {
  readonly #options: SimulationOptions;
  readonly #exchange: Exchange;
  readonly #submission: SubmissionLifecycle;
  readonly #pawl: Pawl;
  readonly #over = new AbortController();
  readonly #names = new Map<string, string>();
  readonly #deeds = new Map<Deed, number>();
  readonly #told = new Set<string>();
  #news: string[] = [];
  #run = 0;
  #ordeal: Ordeal = "none";
  #isThrough = false;
  #kills = 0;
  #heldWhenKilled = 0;
  #callbacks = 0;
  #looksOver = 0;
  #doing: Promise<unknown> = Promise.resolve();
  #comesBack: Promise<unknown> = Promise.resolve();

  private constructor(options: SimulationOptions, exchange: Exchange, submission: SubmissionLifecycle, pawl: Pawl) {
    this.#options = options;
    this.#exchange = exchange;
    this.#submission = submission;
    this.#pawl = pawl;
  }

  static async open(options: SimulationOptions, exchange: Exchange): Promise<Simulation> {
    const { minuteMs, database, folder } = options;
    const submission = submissionLifecycle(minuteMs);
    const outbox = { brokers: [exchange.broker], pollInterval: "200ms" as const };
    const deadLetters = { queues: [exchange.deadLetters] };
    const pawl = await createPawl({
      ...{ database, folder, outbox, deadLetters },
      lifecycles: [submission],
      logger: false,
      alerts: [],
    });
    return new Simulation(options, exchange, submission, pawl);
  }

  get states(): readonly string[] {
    return [...this.#submission.states.keys()];
  }

  /** Starts the submissions, or continues an interrupted run; returns which of the two. */
  async begin(): Promise<"new" | "taken up"> {
    const { minuteMs } = this.#options;
    const read = callbackReader(this.#submission);
    await this.#exchange.open({
      pawl: this.#pawl,
      read: (json) => {
        this.#callbacks += 1;
        return read(json);
      },
      deed: (deed, id) => this.#see(deed, id),
    });
    const latest = await this.#pawl.list(this.#submission, { limit: 1_000 });
    this.#run = Number(latest[0]?.key?.split("-")[0]) || 0;
    const open = await this.#unsettled(latest.filter((one) => this.#isOurs(one)));
    const isTakenUp = open.length > 0;
    for (const { id, key } of latest) this.#names.set(id, key!);
    this.#pawl.work({ concurrency: 32, pollInterval: "200ms", maintenanceInterval: Math.max(50, minuteMs) });
    await this.#exchange.startGrader("none");
    if (isTakenUp) this.#isThrough = true;
    else {
      this.#run += 1;
      this.#doing = this.#handIn().then(() => {
        this.#isThrough = true;
      });
      this.#doing.catch(() => this.#over.abort()); // Returned by `look`.
    }
    return isTakenUp ? "taken up" : "new";
  }

  /** During the submissions, the grader goes through its faults, each for a part of the time. */
  async #handIn(): Promise<void> {
    const { submissions, ordeals } = this.#options;
    let [minute, at] = [0, -1];
    for (const [index, { key, skill, text, atMinute }] of handedIn(submissions, this.#run, overMinutes).entries()) {
      await this.#minutes(atMinute - minute);
      minute = atMinute;
      const turn = Math.floor((index / submissions) * ordeals.length);
      if (turn !== at) await this.#suffer(ordeals[turn]!);
      at = turn;
      if (this.#over.signal.aborted) return;
      const { id } = await this.#pawl.start(this.#submission, { key, data: { skill, text } });
      this.#names.set(id, key);
    }
    await this.#minutes(overMinutes / ordeals.length / 2); // The last of them are taken with what ails it.
    await this.#suffer("none");
  }

  async #suffer(ordeal: Ordeal): Promise<void> {
    await this.#comesBack;
    this.#ordeal = ordeal;
    if (ordeal === "down") this.#comesBack = this.#goDown();
    else this.#exchange.be(ordeal);
  }

  async #goDown(): Promise<void> {
    const held = await this.#exchange.killGrader();
    this.#heldWhenKilled += held;
    this.#kills += 1;
    this.#news.push(`the grader was killed, with ${held} open requests`);
    await this.#minutes(downMinutes);
    if (this.#over.signal.aborted) return;
    await this.#exchange.startGrader("none");
    this.#news.push("the grader is up again");
  }

  #see(deed: Deed, id: string): void {
    this.#deeds.set(deed, (this.#deeds.get(deed) ?? 0) + 1);
    const name = this.#names.get(id) ?? "a submission";
    if (deed === "failed") this.#news.push(`the grader could not grade ${name}`);
    else if (deed === "garbled") this.#news.push(`the grader's answer for ${name} makes no sense`);
  }

  /** Dead callbacks, each reported when it is seen for the first time. */
  async #died(): Promise<DeadLetter[]> {
    const letters = (await this.#letters()).filter(({ kind, key }) => kind === "broker" && this.#isOurs({ key }));
    for (const { id, key, reason } of letters) {
      if (!this.#told.has(id)) this.#news.push(`dead letter (${reason}): a callback for ${key}`);
      this.#told.add(id);
    }
    return letters;
  }

  #letters(): Promise<DeadLetter[]> {
    return this.#pawl.deadLetters.list({ limit: 1_000 });
  }

  async look(): Promise<Look> {
    if (this.#over.signal.aborted) await this.#doing;
    const all = await this.#submissions();
    const counts = new Map<string, number>();
    for (const { state } of all) counts.set(state, (counts.get(state) ?? 0) + 1);
    const late = await this.#late();
    const died = await this.#died();
    const { pending } = await this.#pawl.outbox.status();
    const settled = this.#isThrough && (await this.#unsettled(all)).length === 0;
    const isQuiet = settled && this.#exchange.openRequests === 0 && this.#exchange.isUp && pending === 0;
    this.#looksOver = isQuiet ? this.#looksOver + 1 : 0;
    const news = this.#news;
    this.#news = [];
    return {
      counts,
      submissions: all.length,
      ordeal: this.#ordeal,
      openRequests: this.#exchange.openRequests,
      waiting: pending,
      lateKept: late.length,
      deadLetters: died.length,
      news,
      isOver: this.#looksOver > 3, // A callback may still be on its way.
    };
  }

  /** An instructor accepts every second late grade. A late error is no grade. */
  async acceptLate(): Promise<void> {
    const late = (await this.#late()).filter(({ status, error }) => status === "kept" && error === null);
    for (const [index, { id }] of late.entries()) {
      if (index % 2 === 0)
        await this.#pawl.callbacks.acceptLate(id, { actor: "instructor", reason: "The grader was to blame." });
    }
  }

  async result(): Promise<Result> {
    const all = await this.#submissions();
    const late = await this.#late();
    const failed = new Map<string, number>();
    const gradedTwice: string[] = [];
    const lost: string[] = [];
    const waiting = new Set((await this.#unsettled(all)).map(({ id }) => id));
    let [requests, recoveries] = [0, 0];
    for (const { id, key, state } of all) {
      const journal = await this.#pawl.journal(this.#submission, { id });
      requests += journal.filter(({ event }) => event === "requested").length;
      recoveries += journal.filter(({ event }) => event === "resubmit").length;
      if (journal.filter(({ to, from }) => to === "scored" && from !== to).length > 1) gradedTwice.push(key!);
      if (waiting.has(id)) lost.push(`${key} still stands in ${state}`);
      if (state !== "failed") continue;
      const { recovery } = await this.#pawl.explain(this.#submission, { id });
      const reason = recovery?.failure?.reason ?? "unknown";
      failed.set(reason, (failed.get(reason) ?? 0) + 1);
    }
    const stored = (await this.#callbacksOf(false)).length;
    const died = await this.#died();
    const reasons = [...new Set(died.map(({ reason }) => reason))];
    return {
      submissions: all.length,
      bySkill: (["writing", "speaking"] as const).map((skill) => {
        const own = all.filter(({ data }) => data.skill === skill);
        const ids = new Set(own.map(({ id }) => id));
        const lateOnes = late.filter(({ instance }) => ids.has(instance));
        return {
          skill,
          handedIn: own.length,
          graded: own.filter(({ state }) => state === "scored").length,
          late: lateOnes.length,
          accepted: lateOnes.filter(({ status }) => status === "accepted").length,
        };
      }),
      failed,
      deadMessages: reasons.map((reason) => ({ reason, count: died.filter((one) => one.reason === reason).length })),
      deeds: this.#deeds,
      kills: this.#kills,
      heldWhenKilled: this.#heldWhenKilled,
      requests,
      recoveries,
      duplicates: Math.max(0, this.#callbacks - stored - died.length),
      gradedTwice,
      lost,
      violations: await this.#pawl.inspect.verify(),
    };
  }

  async close(): Promise<void> {
    this.#over.abort();
    await Promise.allSettled([this.#doing, this.#comesBack]); // Errors were printed already.
    await this.#exchange.close();
    await this.#pawl.close();
  }

  async #minutes(count: number): Promise<void> {
    const { signal } = this.#over;
    if (count > 0) await rest(count * this.#options.minuteMs, undefined, { signal }).catch(() => {});
  }

  async #submissions(): Promise<Submission[]> {
    const found = await this.#pawl.list(this.#submission, { limit: 1_000 });
    return found.filter((one) => this.#isOurs(one)).reverse();
  }

  #isOurs({ key }: { readonly key: string | null }): boolean {
    return key?.startsWith(`${this.#run}-`) === true;
  }

  /** Submissions that have not ended and do not wait for a person. */
  async #unsettled(all: readonly Submission[]): Promise<Submission[]> {
    const letters = (await this.#letters()).filter(({ kind }) => kind === "instance");
    const left = new Set(letters.map(({ instance }) => instance));
    return all.filter(({ id, outcome }) => outcome === null && !left.has(id));
  }

  #late() {
    return this.#callbacksOf(true);
  }

  async #callbacksOf(late: boolean) {
    const found = await this.#pawl.callbacks.list({ lifecycle: this.#submission, late, limit: 1_000 });
    // The failure of a late request is recorded, too, and is no grade.
    return found.filter((one) => this.#isOurs(one) && one.event === "graded");
  }
}
