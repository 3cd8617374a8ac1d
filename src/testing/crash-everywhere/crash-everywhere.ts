import { type Duration, durationMs } from "../../base/duration.ts";
import { messageOf, PawlError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";
import { checkedOptions } from "../../base/options.ts";
import { settleWithin } from "../../kernel/time-limit.ts";
import { EffectLedger } from "../effect-ledger.ts";
import { TestBench } from "../test-bench.ts";
import { checkTestPawlOptions, type TestPawl, type TestPawlOptions, testPawlOptionNames } from "../test-pawl.ts";
import { CrashFaults, type CrashPoint, comesAfterUserCode, crashPointName, readCrashPoint } from "./crash-point.ts";
import { type CrashFailure, type CrashReport, crashText } from "./crash-report.ts";
import { differences, type Outcome, readOutcome, statedOutcome } from "./outcome.ts";

/** What `crashEverywhere` is given: a scenario, and the Pawl that it runs on. */
export interface CrashEverywhereOptions extends TestPawlOptions {
  /**
   * What a caller does, from start to end, with `t.pawl`, `t.work()`, `t.advance("10m")` and `t.settle()`. After a crash it runs
   * again from its start on a new process, as a caller does that got no answer: give starts a `key`, and sends an
   * `idempotencyKey`, or use `trySend`.
   */
  readonly scenario: (t: TestPawl) => unknown;
  /** The outside world: how often each effect happened is compared, too. */
  readonly effects?: EffectLedger;
  /**
   * Names of effects that may happen more often after a crash, under another idempotency key.
   *
   * @default []
   */
  readonly repeatable?: readonly string[];
  /**
   * What must be the same whether or not the process dies. Defaults to the key, state, outcome and data of every instance.
   */
  readonly outcome?: (t: TestPawl) => unknown;
  /** Called before every run, to reset what your fake services remember. `effects` is cleared without it. */
  readonly beforeEach?: () => unknown;
  /**
   * How much time passes after the scenario, by the clock of the test, for what happens by itself.
   *
   * @default "1h"
   */
  readonly settle?: Duration;
  /**
   * How long a worker's lease is. So much time passes between a crash and the next process.
   *
   * @default "30s"
   */
  readonly leaseDuration?: Duration;
  /**
   * How long one run may take, in real time.
   *
   * @default "30s"
   */
  readonly timeout?: Duration;
  /** Run one crash point alone, by its name in the report: `"report.before:2"`. */
  readonly only?: string;
}

const ownOptions = [
  "scenario",
  "effects",
  "repeatable",
  "outcome",
  "beforeEach",
  "settle",
  "leaseDuration",
  "timeout",
  "only",
] as const;

/**
 * Runs a scenario once without a crash, and then once for every point at which the process can die: before and after each
 * claim, step, commit and effect. After the crash a new process takes over and the scenario runs again. The outcome must be
 * the same, and each effect must have happened as often as without a crash.
 *
 * ```ts
 * await crashEverywhere({
 *   lifecycles: [parcel],
 *   scenario: async (t) => {
 *     await t.pawl.start(parcel, { key: "p1", data: { address: "Elm 3" } });
 *     await t.settle();
 *   },
 * });
 * ```
 *
 * @throws `crash_unsafe` with a readable account of every crash point that changes the outcome; `option_invalid` for options that
 * do not fit, and for a scenario that fails without a crash.
 */
export async function crashEverywhere(options: CrashEverywhereOptions): Promise<CrashReport> {
  const settings = settingsOf(options);
  const bench = await TestBench.open(options);
  try {
    return await new CrashRuns(bench, settings).all();
  } finally {
    options.effects?.observe(undefined);
    await bench.close();
  }
}

interface Settings extends CrashEverywhereOptions {
  readonly settleMs: number;
  readonly leaseMs: number;
  readonly timeoutMs: number;
  readonly onlyPoint: CrashPoint | undefined;
}

function settingsOf(given: CrashEverywhereOptions): Settings {
  checkedOptions(given ?? null, [...ownOptions, ...testPawlOptionNames], "crashEverywhere");
  checkTestPawlOptions(given, "crashEverywhere");
  const { scenario, effects, repeatable, only } = given;
  if (typeof scenario !== "function")
    throw new PawlError("option_invalid", "`crashEverywhere` needs `scenario`: a function that receives a TestPawl.");
  for (const name of ["outcome", "beforeEach"] as const) {
    if (given[name] !== undefined && typeof given[name] !== "function")
      throw new PawlError("option_invalid", `\`${name}\` of \`crashEverywhere\` must be a function.`);
  }
  if (effects !== undefined && !(effects instanceof EffectLedger))
    throw new PawlError("option_invalid", "`effects` of `crashEverywhere` must be an EffectLedger.");
  const isList = Array.isArray(repeatable) && repeatable.every((one) => typeof one === "string");
  if (repeatable !== undefined && !isList)
    throw new PawlError("option_invalid", "`repeatable` of `crashEverywhere` must be a list of names of effects.");
  const onlyPoint = only === undefined ? undefined : readCrashPoint(only);
  if (only !== undefined && onlyPoint === undefined)
    throw new PawlError("option_invalid", `\`only\` must be the name of a crash point, such as "report.before:2".`);
  const leaseMs = durationMs(given.leaseDuration ?? "30s", "leaseDuration");
  if (leaseMs < 1) throw new PawlError("option_invalid", "`leaseDuration` must be longer than 0 ms.");
  const timeoutMs = durationMs(given.timeout ?? "30s", "timeout");
  return { ...given, settleMs: durationMs(given.settle ?? "1h", "settle"), leaseMs, timeoutMs, onlyPoint };
}

/** The runs of one call, on one database. */
class CrashRuns {
  readonly #bench: TestBench;
  readonly #settings: Settings;

  constructor(bench: TestBench, settings: Settings) {
    this.#bench = bench;
    this.#settings = settings;
  }

  async all(): Promise<CrashReport> {
    const { expected, points, visits } = await this.#baseline();
    const chosen = this.#chosen(points);
    const failures: CrashFailure[] = [];
    let missed = 0;
    for (const point of chosen) {
      const problems = await this.#crashed(point, expected);
      if (problems === "not reached") missed += 1;
      else if (problems.length > 0) failures.push({ ...point, point: crashPointName(point), problems });
    }
    const counted = { visits, points: chosen.length, missed, effects: Object.fromEntries(expected.effects), failures };
    const report = { ...counted, text: crashText(counted) };
    if (failures.length > 0) throw new PawlError("crash_unsafe", report.text, { failures });
    return report;
  }

  #chosen(points: readonly CrashPoint[]): readonly CrashPoint[] {
    const { onlyPoint } = this.#settings;
    if (onlyPoint === undefined) return points;
    const names = points.map(crashPointName);
    const name = crashPointName(onlyPoint);
    if (names.includes(name)) return [onlyPoint];
    const close = nearest(name, names);
    const hint = close === undefined ? "" : ` Did you mean "${close}"?`;
    throw new PawlError(
      "option_invalid",
      `The scenario does not reach "${name}", or has stored nothing new there.${hint}`,
    );
  }

  /** The run without a crash: its outcome, and the points at which the stored state differs from that of the point before. */
  async #baseline(): Promise<{ expected: Outcome; points: CrashPoint[]; visits: number }> {
    await this.#prepare();
    const points: CrashPoint[] = [];
    let visits = 0;
    let calls = 0;
    let last: string | undefined;
    const faults: CrashFaults = new CrashFaults(undefined, async (point) => {
      visits += 1;
      if (comesAfterUserCode(point)) calls += 1;
      const mark = `${await process.mark()} ${calls}`;
      if (mark === last) return;
      last = mark;
      points.push(point);
    });
    const process = await this.#bench.start(faults, this.#settings.leaseMs);
    faults.arm(() => process.kill());
    this.#watchEffects(faults);
    try {
      const expected = await this.#inTime("without a crash", async () => {
        await this.#settings.scenario(process.t);
        await this.#settleDown(process.t);
        faults.disarm();
        return this.#outcomeOf(process.t);
      });
      return { expected, points, visits };
    } catch (error) {
      const message = `The scenario of \`crashEverywhere\` fails without a crash: ${messageOf(error)}`;
      throw new PawlError("option_invalid", message, {}, { cause: error });
    } finally {
      process.kill();
    }
  }

  /** The differences after a crash at a point. */
  async #crashed(point: CrashPoint, expected: Outcome): Promise<readonly string[] | "not reached"> {
    await this.#prepare();
    const { scenario, leaseMs, repeatable } = this.#settings;
    const faults = new CrashFaults(point);
    const first = await this.#bench.start(faults, leaseMs);
    faults.arm(() => first.kill());
    this.#watchEffects(faults);
    try {
      const whole = async (t: TestPawl) => {
        await scenario(t);
        await this.#settleDown(t);
      };
      const died = await this.#inTime("before the crash", () =>
        Promise.race([whole(first.t).then(() => false), faults.died.then(() => true)]),
      );
      if (!died) return "not reached";
    } catch (error) {
      return [`before the crash the scenario fails, which it did not in the first run: ${messageOf(error)}`];
    } finally {
      first.kill();
      this.#settings.effects?.observe(undefined);
    }
    const second = await this.#bench.start(new CrashFaults(undefined), leaseMs);
    try {
      return await this.#inTime("after the crash", async () => {
        await second.t.advance(leaseMs + 1);
        await scenario(second.t);
        await this.#settleDown(second.t);
        return differences(expected, await this.#outcomeOf(second.t), new Set(repeatable));
      });
    } catch (error) {
      return [`the scenario fails when it is repeated after the crash: ${messageOf(error)}`];
    } finally {
      second.kill();
    }
  }

  /** The same amount of time for all runs, so that what depends on it is the same. */
  async #settleDown(t: TestPawl): Promise<void> {
    await t.settle(this.#settings.settleMs);
  }

  async #outcomeOf(t: TestPawl): Promise<Outcome> {
    const { outcome, lifecycles, effects } = this.#settings;
    return outcome === undefined ? readOutcome(t, lifecycles, effects) : statedOutcome(await outcome(t), effects);
  }

  async #prepare(): Promise<void> {
    const { effects, beforeEach, timeoutMs } = this.#settings;
    await this.#bench.reset();
    effects?.clear();
    if (beforeEach !== undefined) await settleWithin(timeoutMs, "`beforeEach` of `crashEverywhere`", beforeEach);
  }

  #watchEffects(faults: CrashFaults): void {
    this.#settings.effects?.observe({ after: ({ name }) => faults.visit(`effect:${name}`) });
  }

  #inTime<Value>(when: string, work: () => Promise<Value>): Promise<Value> {
    return settleWithin(this.#settings.timeoutMs, `A run of the scenario ${when}`, work);
  }
}
