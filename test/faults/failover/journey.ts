import { setTimeout as pause } from "node:timers/promises";
import type { Pawl } from "pawl";
import { openOn } from "../../../src/api/open/create.ts";
import type { Kernel } from "../../../src/kernel/kernel.ts";
import { sql } from "../../../src/store/port/db.ts";
import { openPostgres } from "../../../src/store/postgres/open.ts";
import { Random, seed } from "../harm/random.ts";
import { type Said, WorkerProcess } from "../harm/worker-process.ts";
import { Sink } from "../relays/sink.ts";
import { Callers } from "./callers.ts";
import type { Failover } from "./pair.ts";
import { legsEach, lifecycles, messagesEach } from "./trip.ts";

const processes = 2;
const callers = 4;

/** How long a failover took, and how long nothing moved. */
export interface Outage {
  readonly tookMs: number;
  readonly stoodMs: number;
}

/** Load on a database that fails over: worker processes, callers and a receiver of messages, none of which is restarted. */
export class Journey {
  readonly outages: Outage[] = [];
  readonly #pawl: Pawl;
  readonly #kernel: Kernel;
  readonly #sink: Sink;
  readonly #callers: Callers;
  readonly #workers: WorkerProcess[] = [];
  readonly #begun = new Map<string, number>();
  readonly #found: string[] = [];
  readonly #movedAt: number[] = [];
  #isEnding = false;
  #wake: () => void = () => {};

  private constructor(pawl: Pawl, kernel: Kernel, sink: Sink) {
    [this.#pawl, this.#kernel, this.#sink] = [pawl, kernel, sink];
    this.#callers = new Callers(pawl, callers);
  }

  static async begin(url: string): Promise<Journey> {
    const { pawl, kernel } = await openOn(await openPostgres({ url, connections: 6 }), { lifecycles, logger: false });
    const sink = new Sink(new Random(seed));
    const env = { PAWL_VICTIM_URL: url, PAWL_VICTIM_SINK: String(await sink.listen()) };
    const journey = new Journey(pawl, kernel, sink);
    for (let number = 0; number < processes; number++) journey.#start(env);
    await Promise.all(journey.#workers.map((worker) => worker.ready));
    return journey;
  }

  /** Returns after so many moves more. */
  async progress(moves: number): Promise<void> {
    const wanted = this.#movedAt.length + moves;
    while (this.#movedAt.length < wanted) await this.#news();
  }

  /** Returns when work goes on after a failover. */
  async outage(failOver: () => Promise<Failover>): Promise<void> {
    const { endedAt, promotedAt } = await failOver();
    while ((this.#movedAt.at(-1) ?? 0) < promotedAt) await this.#news();
    const before = this.#movedAt.findLastIndex((at) => at < endedAt);
    const times = this.#movedAt.slice(Math.max(0, before));
    const after = times.findIndex((at) => at >= promotedAt);
    const gaps = times.slice(1, after + 1).map((at, index) => at - times[index]!);
    this.outages.push({ tookMs: promotedAt - endedAt, stoodMs: Math.max(...gaps) });
  }

  /** Ends the load, lets everything come to its end, and returns what was promised and does not hold. */
  async end(): Promise<string[]> {
    await this.#callers.end();
    const trips = this.#callers.started.length;
    await this.#allEnded(trips, trips * legsEach);
    const ids = await this.#kernel.db.rows<{ id: string; key: string }>(sql`
      select id::text as id, key from pawl.instances where lifecycle = 'trip'`);
    await this.#sink.deliveries.whenArrived(ids.length * messagesEach);
    this.#isEnding = true;
    await Promise.all(this.#workers.map((worker) => worker.kill()));
    const published = new Map(ids.map(({ id }) => [id, messagesEach]));
    return [
      ...this.#found,
      ...(await this.#lostCalls(new Set(ids.map(({ key }) => key)))),
      ...(await this.#spentAttempts()),
      ...this.#sink.deliveries.contradictions(published, { mayRepeat: true }),
      ...(await this.#pawl.inspect.verify()).map((violation) => JSON.stringify(violation)),
    ];
  }

  get summary(): string {
    const again = [...this.#begun.values()].filter((times) => times > 1).length;
    return (
      `${this.#callers.started.length} trips, ${this.#movedAt.length} moves, ${this.#callers.refused} calls repeated, ` +
      `${again} of ${this.#begun.size} steps begun again, ${this.#sink.deliveries.repeated} messages repeated;`
    );
  }

  async close(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#workers.map((worker) => worker.kill()));
    await this.#sink.close();
    await this.#pawl.close();
  }

  #start(env: Record<string, string>): void {
    const worker = new WorkerProcess(env, (said) => this.#hear(said), "test/faults/failover/trip-child.ts");
    this.#workers.push(worker);
    void worker.ended.then((signal) => {
      if (!this.#isEnding) this.#found.push(`A worker process ended (${signal}).`);
    });
  }

  #hear({ what, words }: Said): void {
    if (what === "moved") {
      this.#movedAt.push(performance.now());
      this.#wake();
    }
    if (what === "begin") this.#begun.set(words[2]!, (this.#begun.get(words[2]!) ?? 0) + 1);
    if (what === "unheard") this.#found.push(`Unhandled rejection: ${words[0]}`);
  }

  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #allEnded(trips: number, legs: number): Promise<void> {
    for (;;) {
      const rows = await this.#kernel.db.rows<{
        lifecycle: string;
        outcome: string | null;
        state: string;
        many: number;
      }>(sql`select lifecycle, outcome, state, count(*)::int as many from pawl.instances group by 1, 2, 3`);
      const done = (name: string) => rows.find((row) => row.lifecycle === name && row.outcome === "success")?.many;
      if (done("trip") === trips && done("leg") === legs) return;
      const failed = rows.filter((row) => row.state === "failed" || (row.outcome ?? "success") !== "success");
      if (failed.length > 0) throw new Error(`Attempts were spent: ${JSON.stringify(failed)} ${await this.#why()}`);
      await pause(100);
    }
  }

  async #why(): Promise<string> {
    const rows = await this.#kernel.db.rows(sql`
      select instance.failure, (
        select json_agg(json_build_array(move.event, move.to_state, move.source, move.reason, move.at) order by move.version)
        from pawl.journal as move where move.instance_id = instance.id
      ) as moves, (
        select json_agg(json_build_array(each.what, each.lane, each.attempt, each.detail, each.at) order by each.position)
        from pawl.attempts as each where each.instance_id = instance.id
      ) as attempts
      from pawl.instances as instance where instance.state = 'failed' or instance.outcome = 'failure' limit 3`);
    return JSON.stringify(rows);
  }

  /** Acknowledged calls that are not in the history, or more than once. */
  async #lostCalls(keys: ReadonlySet<string>): Promise<string[]> {
    const rows = await this.#kernel.db.rows<{ key: string; event: string; times: number }>(sql`
      select instance.key, move.event, count(*)::int as times
      from pawl.instances as instance join pawl.journal as move on move.instance_id = instance.id
      where instance.lifecycle = 'trip' group by instance.key, move.event`);
    const times = new Map(rows.map((row) => [`${row.key} ${row.event}`, row.times]));
    const { started, confirmed, left } = this.#callers;
    const once = (event: string, some: readonly string[]) =>
      some
        .filter((key) => times.get(`${key} ${event}`) !== 1)
        .map(
          (key) => `\`${event}\` of ${key} was acknowledged, and is there ${times.get(`${key} ${event}`) ?? 0} times`,
        );
    return [
      ...started.filter((key) => !keys.has(key)).map((key) => `The start of ${key} was acknowledged, and is lost`),
      ...once("confirmed", confirmed),
      ...once("leave", left),
    ];
  }

  /** A lapse whose attempt was given back is none. */
  async #spentAttempts(): Promise<string[]> {
    const rows = await this.#kernel.db.rows<{ what: string; lane: string; attempt: number; detail: unknown }>(sql`
      select what, lane, attempt, detail from pawl.attempts
      where attempt > 1 or what = 'failed'
        or (what = 'lapsed' and coalesce(detail ->> 'reason', '') not in ('database_away', 'not_started'))`);
    return rows.map((row) => `An attempt was spent: ${JSON.stringify(row)}`);
  }
}

/** How long work stood still, and how much of that the failovers took themselves. */
export function standstills(outages: readonly Outage[]): string {
  const sorted = (times: readonly number[]) => [...times].sort((one, other) => one - other).map(Math.round);
  const shown = (times: readonly number[]) => `${times[0]} / ${times[times.length >> 1]} / ${times.at(-1)} ms`;
  const stood = shown(sorted(outages.map((one) => one.stoodMs)));
  const beyond = shown(sorted(outages.map((one) => one.stoodMs - one.tookMs)));
  return `work stood still for ${stood} (min / median / max), ${beyond} of it beyond the outage itself`;
}
