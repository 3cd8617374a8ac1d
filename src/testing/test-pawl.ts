import { deliverAlerts } from "../alerts/deliver-alerts.ts";
import { type AlertSink, sinksOf } from "../alerts/sink.ts";
import { openOn, type PawlOptions } from "../api/open/create.ts";
import type { Pawl } from "../api/pawl.ts";
import { type Duration, durationMs } from "../base/duration.ts";
import { PawlError } from "../base/errors.ts";
import { checkedOptions } from "../base/options.ts";
import { notifyTickets } from "../dead-letters/notify-tickets.ts";
import { enforceRetention } from "../dead-letters/retention.ts";
import { type LetterSettings, letterSettings } from "../dead-letters/settings.ts";
import type { AnyLifecycle } from "../definition/language/public-types.ts";
import { effectLaneOf, laneOf, sendLaneOf } from "../definition/model.ts";
import type { AnyQueue } from "../definition/queue.ts";
import type { AnySchedule } from "../definition/schedule/schedule.ts";
import { reportStuck } from "../inspect/stuck/report-stuck.ts";
import { advanceBreakers, probePlace, rampLimitOf, writeCalls } from "../kernel/breakers/breakers.ts";
import { checkParents } from "../kernel/family/check-parents.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { breakerOf, readClosedLanes } from "../kernel/lanes/closed-lanes.ts";
import { gatesOf, probeGates } from "../kernel/lanes/gates.ts";
import { lanesOf } from "../kernel/lanes/lanes.ts";
import { prune } from "../kernel/maintenance/prune.ts";
import { claimFromGates, claimFromLanes, claimProbeTask, renewTaskLeases } from "../kernel/tasks/claim.ts";
import { report } from "../kernel/tasks/report.ts";
import type { ClaimedTask } from "../kernel/types/claimed-task.ts";
import type { Outcome } from "../kernel/types/outcome.ts";
import { maintain, type Round } from "../maintenance/round.ts";
import { Delivery } from "../outbox/delivery.ts";
import { relayRound } from "../outbox/round.ts";
import { type RelayOptions, relaySettings } from "../outbox/settings.ts";
import { type MessageOutcome, promoteMessages, pruneMessages } from "../outbox/store/outbox.ts";
import type { Db } from "../store/port/db.ts";
import { migrate } from "../store/port/migrate.ts";
import { Claimer } from "../worker/claimer.ts";
import { Lanes } from "../worker/lanes.ts";
import { type Handler, run } from "../worker/steps/run.ts";
import { installTestClock, type TestClock } from "./clock.ts";
import { PlantedFaults } from "./faults.ts";
import { borrowMemoryStore, borrowPostgresStore, type TestStore } from "./stores.ts";

export interface TestPawlOptions {
  readonly lifecycles: readonly AnyLifecycle[];
  readonly schedules?: readonly AnySchedule[];
  /** The queues in which people label. */
  readonly queues?: readonly AnyQueue[];
  /** The crowds and their marketplaces. */
  readonly crowds?: PawlOptions["crowds"];
  readonly marketplaces?: PawlOptions["marketplaces"];
  readonly breakers?: PawlOptions["breakers"];
  /** Fakes for steps, by `lifecycle/state`: `{ "essay/grading": (step) => step.go("graded", { score: 7 }) }`. */
  // biome-ignore lint/suspicious/noExplicitAny: a fake accepts the step of any state.
  readonly steps?: Readonly<Record<string, (step: any) => unknown>>;
  /**
   * The logger.
   * @default none
   */
  readonly logger?: PawlOptions["logger"];
  /** The broker for `t.relay()`: the result of `memoryBroker()`, or one of your own. */
  readonly outbox?: RelayOptions;
  /** The sinks for `t.deliverAlerts()`. */
  readonly alerts?: PawlOptions["alerts"];
  /** The settings of dead letters for the test's calls. */
  readonly deadLetters?: PawlOptions["deadLetters"];
  /** How long something may wait before it is reported as stuck. */
  readonly stuckAfter?: PawlOptions["stuckAfter"];
  /**
   * A PostgreSQL server on which the test gets a database of its own.
   * @default in memory
   */
  readonly server?: string | undefined;
  /**
   * Notifications between processes by NOTIFY and LISTEN.
   * @default false
   */
  readonly notify?: boolean;
  /** A transaction pooler in front of that server, to test through it. */
  readonly pooler?: string | undefined;
}

const standardLeaseMs = 30_000;
/** After so long it is tried again whether work that was held back may begin. */
const heldBackMs = 10_000;

/**
 * A Pawl on a database of its own, with a clock that you move.
 *
 * ```ts
 * const t = await testPawl({ lifecycles: [parcel] });
 * await t.pawl.start(parcel, { key: "p1", data: { address: "Elm 3" } });
 * await t.work();           // runs what is ready
 * await t.advance("10m");   // moves the database's clock; what falls due on the way happens at its own moment
 * ```
 */
export async function testPawl(options: TestPawlOptions): Promise<TestPawl> {
  const { server, pooler } = checkedOptions(options, testPawlOptionNames, "testPawl");
  const store = server === undefined ? await borrowMemoryStore() : await borrowPostgresStore(server, { pooler });
  await migrate(store.db);
  return openTestPawl(store, await installTestClock(store.db), options, { faults: new PlantedFaults() });
}

/** The same on a database that is there, with a clock that is installed. */
export async function openTestPawl(
  store: TestStore,
  clock: TestClock,
  options: TestPawlOptions,
  given: {
    readonly faults: PlantedFaults;
    readonly leaseMs?: number | undefined;
    readonly migrate?: boolean;
    readonly newId?: (() => string) | undefined;
  },
): Promise<TestPawl> {
  const { lifecycles, schedules, queues, crowds, marketplaces, breakers } = options;
  const { faults, leaseMs = standardLeaseMs } = given;
  const { pawl, kernel } = await openOn(
    store.db,
    {
      lifecycles,
      schedules,
      queues,
      crowds,
      marketplaces,
      breakers,
      logger: options.logger ?? false,
      outbox: options.outbox,
      alerts: options.alerts,
      deadLetters: options.deadLetters,
      stuckAfter: options.stuckAfter,
      notify: options.notify ?? false,
      migrate: given.migrate ?? true,
    },
    { clock, faults, newId: given.newId, reportsStuck: false },
  );
  const fakes = new Map<string, Handler>(Object.entries(options.steps ?? {}));
  for (const name of fakes.keys()) refuseUnknownStep(options.lifecycles, name);
  return new TestPawl({
    pawl,
    kernel,
    store,
    clock,
    faults,
    fakes,
    leaseMs,
    outbox: options.outbox,
    alerts: sinksOf(options.alerts),
    letters: letterSettings(options.deadLetters),
  });
}

/** The names of the options of `testPawl`. */
export const testPawlOptionNames = [
  "lifecycles",
  "schedules",
  "queues",
  "crowds",
  "marketplaces",
  "breakers",
  "steps",
  "logger",
  "outbox",
  "alerts",
  "deadLetters",
  "stuckAfter",
  "server",
  "notify",
  "pooler",
] as const satisfies readonly (keyof TestPawlOptions)[];

/** What every call refuses that opens a Pawl for a test. */
export function checkTestPawlOptions({ lifecycles, steps }: TestPawlOptions, call: string): void {
  const isList = Array.isArray(lifecycles) && lifecycles.every((one) => one?.kind === "lifecycle");
  if (!isList || lifecycles.length === 0)
    throw new PawlError(
      "option_invalid",
      `\`${call}\` needs \`lifecycles\`: a list of return values of lifecycle() and job().`,
    );
  if (steps === undefined) return;
  if (typeof steps !== "object" || steps === null)
    throw new PawlError(
      "option_invalid",
      `\`steps\` of \`${call}\` must be an object: { "essay/grading": (step) => … }.`,
    );
  for (const [name, step] of Object.entries(steps)) {
    refuseUnknownStep(lifecycles, name);
    if (typeof step !== "function")
      throw new PawlError("option_invalid", `\`steps\` of \`${call}\` has no function for "${name}".`);
  }
}

function refuseUnknownStep(lifecycles: readonly AnyLifecycle[], name: string): void {
  const [lifecycle = "", state = ""] = name.split("/");
  const kind = lifecycles.find((one) => one.name === lifecycle)?.states.get(state)?.kind;
  if (kind === "work") return;
  throw new PawlError(
    "option_invalid",
    `\`steps\` names "${name}", but that step does not exist. Write lifecycle/state, of a state that has a \`run\`.`,
  );
}

interface Parts {
  readonly pawl: Pawl;
  readonly kernel: Kernel;
  readonly store: TestStore;
  readonly clock: TestClock;
  readonly faults: PlantedFaults;
  readonly fakes: ReadonlyMap<string, Handler>;
  /**
   * The duration of a lease.
   * @default "30s"
   */
  readonly leaseMs?: number;
  readonly outbox?: RelayOptions | undefined;
  readonly alerts?: readonly AlertSink[];
  readonly letters?: LetterSettings;
}

/** See `testPawl`. */
export class TestPawl {
  readonly pawl: Pawl;
  /** Where a fault is to happen: `t.faults.plant("commit.after", "throw")`. */
  readonly faults: PlantedFaults;
  readonly #parts: Parts;
  #workers = 0;

  /** @internal */
  constructor(parts: Parts) {
    this.pawl = parts.pawl;
    this.faults = parts.faults;
    this.#parts = parts;
  }

  /** The database, to read its tables or run a statement. */
  get db(): Db {
    return this.#parts.store.db;
  }

  /** The database's URL, for another process; undefined in memory. */
  get url(): string | undefined {
    return this.#parts.store.url;
  }

  /** @internal */
  get kernel(): Kernel {
    return this.#parts.kernel;
  }

  /** The current time of the database. */
  now(): Date {
    return new Date(this.#parts.clock.nowMs());
  }

  /** Moves the clock. Timers, retries and lapsed leases happen on the way, each at its own moment and in their order. */
  async advance(duration: Duration): Promise<void> {
    const { clock } = this.#parts;
    const endMs = clock.nowMs() + durationMs(duration, "advance");
    for (;;) {
      await this.maintain();
      const next = await clock.nextMoment();
      if (next === undefined || next > endMs) break;
      await clock.set(next);
    }
    await clock.set(endMs);
  }

  /**
   * Runs all work and moves the clock from one due moment to the next, until nothing is left that happens by itself, or
   * for `within` at most. Instances that wait for a caller or a person stay.
   */
  async settle(within: Duration = "1h"): Promise<void> {
    const { clock } = this.#parts;
    const endMs = clock.nowMs() + durationMs(within, "settle");
    for (;;) {
      await this.maintain();
      const ran = await this.work();
      const next = await clock.nextMoment();
      if (ran > 0 && (next === undefined || next > endMs)) continue; // Its effects may be due at once.
      // Work that may not begin now waits for a breaker or a rate, which no row shows.
      const isHeldBack = next === undefined && (await clock.hasReadyTasks());
      const atMs = isHeldBack ? clock.nowMs() + heldBackMs : next;
      if (atMs === undefined || atMs > endMs) return;
      await clock.set(atMs);
    }
  }

  /** One round of maintenance at the present moment. */
  async maintain(): Promise<Round> {
    const { kernel } = this.#parts;
    const round = await maintain(kernel, await lanesOf(kernel));
    if (round.failures.length > 0) throw round.failures[0]!.error;
    return round;
  }

  /**
   * Raises alerts for newly stuck instances, as maintenance does twice a minute; returns how many. A test has no live
   * worker, so every task that is ready for longer than a minute is stuck.
   */
  reportStuck(): Promise<number> {
    return reportStuck(this.#parts.kernel);
  }

  /** Delivers due alerts; returns how many. */
  deliverAlerts(): Promise<number> {
    return deliverAlerts(this.#parts.kernel, this.#parts.alerts ?? []);
  }

  /**
   * Archives dead letters that are too old or too many, and raises an alert when many came; returns how many were
   * archived.
   */
  async archiveDeadLetters(): Promise<number> {
    const { kernel, letters = letterSettings() } = this.#parts;
    for (let archived = 0; ; ) {
      const round = await enforceRetention(kernel, letters);
      archived += round;
      if (round === 0) return archived;
    }
  }

  /** Calls `deadLetters.onTicket` for due tickets; returns how many were delivered. */
  async notifyTickets(): Promise<number> {
    const { kernel, letters } = this.#parts;
    return letters?.onTicket === undefined ? 0 : notifyTickets(kernel, letters.onTicket);
  }

  /** Deletes all instances past their `retention`; returns how many. */
  async prune(): Promise<number> {
    for (let removed = 0; ; ) {
      const round = await prune(this.#parts.kernel, { keepsLetters: this.#parts.letters?.archive !== undefined });
      removed += round.removed;
      if (!round.more) return removed;
    }
  }

  /**
   * Runs ready tasks, and those that become ready by them (joins too), until none may run now (a lane can be paused, a
   * rate used up); returns how many tasks it ran.
   */
  async work(): Promise<number> {
    const { kernel, clock, fakes, leaseMs = standardLeaseMs } = this.#parts;
    const now = () => clock.nowMs(); // In which order lanes are claimed from must not depend on the speed of the machine.
    const lanes = new Lanes(kernel, undefined, now);
    await lanes.read();
    const claims = new Claimer(kernel, lanes, { worker: "test-worker", leaseMs }, now);
    for (let ran = 0; ; ) {
      const tasks = await claims.claim(100);
      if (tasks.length === 0) {
        const { made, failures } = await checkParents(kernel, 500);
        if (failures.length > 0) throw failures[0]!.error;
        if (made === 0) return ran;
        continue;
      }
      await this.faults.at("run.before");
      const outcomes = await Promise.all(
        tasks.map((one) => run(kernel, one, { abort: neverAborted(), log: () => {}, fakes })),
      );
      await this.faults.at("run.after");
      await report(
        kernel,
        tasks.map((one, index) => ({ task: one, outcome: outcomes[index]! })),
      );
      await writeCalls(kernel);
      ran += tasks.length;
    }
  }

  /**
   * Sends due messages of the outbox, until none is left, and deletes messages that were sent long ago; returns the
   * outcome of each.
   */
  async relay(): Promise<{ id: string; what: MessageOutcome["what"] }[]> {
    const { kernel, outbox } = this.#parts;
    if (outbox === undefined) throw new PawlError("option_invalid", "Pass an `outbox` with brokers to testPawl first.");
    const settings = relaySettings(outbox);
    const delivery = new Delivery(kernel, settings);
    await promoteMessages(kernel.db, 10_000);
    if (settings.retentionMs !== null) await pruneMessages(kernel.db, settings.retentionMs, 10_000);
    for (const outcomes: MessageOutcome[] = []; ; ) {
      const round = await relayRound(kernel, settings, delivery, "test-relay");
      if (round === undefined) return outcomes.map(({ id, what }) => ({ id, what }));
      outcomes.push(...round.outcomes);
    }
  }

  /** A worker under the test's control: claims one task of `lifecycle/state` (or `lifecycle:after`, `lifecycle:send`, or of a whole lane such as `essay@1/grading`) and waits for your word. */
  async claim(step: string): Promise<TestWorker> {
    const { kernel, fakes, leaseMs = standardLeaseMs } = this.#parts;
    const lane = this.#laneOf(step);
    const holder = { worker: `test-worker-${++this.#workers}`, leaseMs };
    await advanceBreakers(kernel);
    const closure = (await readClosedLanes(kernel, [lane])).get(lane);
    const place = closure?.by === "breaker" ? probePlace(kernel, breakerOf(kernel, lane)!) : undefined;
    if (closure !== undefined && place === undefined)
      throw new PawlError("option_invalid", `${lane} is paused: ${closure.reason}`);
    const gates = gatesOf(kernel, [lane], (breaker) => rampLimitOf(kernel, breaker));
    const [task] =
      place !== undefined
        ? await claimProbeTask(kernel, place, { gates: probeGates(kernel, [lane]), ...holder })
        : gates.length === 0
          ? await claimFromLanes(kernel, { lanes: [lane], limit: 1, share: 1, ...holder })
          : await claimFromGates(kernel, { gates, limit: 1, ...holder });
    if (task !== undefined) return new TestWorker(kernel, task, { fakes, leaseMs });
    const but = gates.length === 0 ? "" : ", or its limit or rate is reached";
    throw new PawlError("option_invalid", `Nothing is ready in ${lane}${but}.`);
  }

  async close(): Promise<void> {
    await this.pawl.close();
    await this.#parts.store.dispose();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #laneOf(step: string): string {
    if (step.includes("@")) return step;
    const { kernel } = this.#parts;
    const [name = "", state] = step.split("/");
    const [lifecycleName = "", suffix] = name.split(":");
    const lifecycle = kernel.lifecycles.get(lifecycleName);
    if (lifecycle === undefined) throw new PawlError("option_invalid", `No lifecycle has the step "${step}".`);
    if (state !== undefined) return laneOf(lifecycle, state);
    return suffix === "send" ? sendLaneOf(lifecycle) : effectLaneOf(lifecycle);
  }
}

/** One leased task. Every word after the lease was lost is answered with `lease_lost`. */
export class TestWorker {
  readonly #kernel: Kernel;
  readonly #task: ClaimedTask;
  readonly #given: Pick<Required<Parts>, "fakes" | "leaseMs">;

  /** @internal */
  constructor(kernel: Kernel, task: ClaimedTask, given: Pick<Required<Parts>, "fakes" | "leaseMs">) {
    this.#kernel = kernel;
    this.#task = task;
    this.#given = given;
  }

  get id(): string {
    return this.#task.row.id;
  }

  get data(): Readonly<Record<string, unknown>> {
    return this.#task.row.data;
  }

  get attempt(): number {
    return this.#task.attempt;
  }

  get token(): number {
    return this.#task.lease.token;
  }

  /** Ends the step with an event. */
  report(
    event: string,
    payload?: unknown,
    said: { set?: Record<string, unknown>; publish?: readonly { type: string; payload: unknown }[] } = {},
  ): Promise<void> {
    return this.#report({ kind: "event", event, payload, patch: said.set ?? {}, messages: said.publish ?? [] });
  }

  /** The attempt failed. */
  fail(error: unknown): Promise<void> {
    return this.#report({ kind: "failed", error });
  }

  giveUp(reason: string): Promise<void> {
    return this.#report({ kind: "gave_up", reason });
  }

  retryLater(after: Duration): Promise<void> {
    return this.#report({ kind: "retry_later", afterMs: durationMs(after, "retryLater"), reason: null });
  }

  /** Gives the task back unused. */
  release(): Promise<void> {
    return this.#report({ kind: "released" });
  }

  /** An effect is carried out. */
  done(): Promise<void> {
    return this.#report({ kind: "done" });
  }

  /** Runs the real handler (or its fake) and reports its outcome. */
  async run(): Promise<void> {
    await this.#report(
      await run(this.#kernel, this.#task, { abort: neverAborted(), log: () => {}, fakes: this.#given.fakes }),
    );
  }

  async renew(): Promise<void> {
    const { lost, skipped } = await renewTaskLeases(this.#kernel, [this.#task.lease], this.#given.leaseMs);
    if (lost.length > 0) throw this.#lost();
    if (skipped.length > 0)
      throw new PawlError("busy", "The task could not be renewed: another transaction has locked it. Try again.");
  }

  async #report(outcome: Outcome): Promise<void> {
    const [reported] = await report(this.#kernel, [{ task: this.#task, outcome }]);
    await writeCalls(this.#kernel);
    if (reported === "lease_lost") throw this.#lost();
  }

  #lost(): PawlError {
    const { taskId } = this.#task.lease;
    return new PawlError("lease_lost", `The lease of task ${taskId} was lost; drop this result.`, { taskId });
  }
}

function neverAborted(): AbortController {
  return new AbortController();
}
