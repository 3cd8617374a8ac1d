import type { RequestQueue } from "./request-queue.ts";

/** What one round of upkeep did. */
export interface MaintenanceReport {
  readonly checkpointed: boolean;
  readonly vacuumed: readonly string[];
}

const checkpointBytes = 64 * 1024 * 1024;
const checkpointEveryMs = 5 * 60_000;
const roundEveryMs = 10_000;

/**
 * The tables that a server's autovacuum would process, and those with old transactions, catalogues included:
 * transaction ids wrap around after four billion.
 */
const dueTables = `
  select format('%I.%I', stats.schemaname, stats.relname) as name
  from pg_stat_all_tables as stats join pg_class as class on class.oid = stats.relid
  where stats.schemaname <> 'pg_toast' and (
    stats.n_dead_tup > 1000 + 0.02 * stats.n_live_tup
    or stats.n_mod_since_analyze > 1000 + 0.1 * stats.n_live_tup
    or stats.n_ins_since_vacuum > 10000 + 0.2 * stats.n_live_tup
    or age(class.relfrozenxid) > 100000000)
  order by stats.n_dead_tup desc
  limit 10`;

/**
 * The background work of a server, which PGlite lacks: checkpoints, which keep the WAL and a restart after a crash
 * short, and vacuum with analyze. Each step is a request of its own in the queue, so others run in between.
 */
export class EmbeddedMaintenance {
  readonly #line: RequestQueue;
  readonly #warn: (text: string) => void;
  #checkpointAt: { walBytes: number; time: number };
  #callsSeen = 0;
  #running: Promise<MaintenanceReport> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(line: RequestQueue, warn: (text: string) => void) {
    this.#line = line;
    this.#warn = warn;
    this.#checkpointAt = { walBytes: line.walBytes, time: Date.now() };
  }

  start(): void {
    this.#timer = setInterval(() => this.#inBackground(), roundEveryMs);
    this.#timer.unref();
    this.#line.onWal = () => {
      if (this.#written() >= checkpointBytes) this.#inBackground();
    };
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.#line.onWal = () => {};
  }

  /** Runs one round; concurrent callers share it. */
  round(): Promise<MaintenanceReport> {
    this.#running ??= this.#round().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  #inBackground(): void {
    const idle = this.#line.calls === this.#callsSeen && !this.#checkpointIsDue();
    if (this.#running !== undefined || idle) return;
    this.round().catch((error: Error) => {
      // A round that the end of the process cuts short is no fault; the next one tidies up.
      if (!this.#isStopped) this.#warn(`The embedded database could not be tidied up: ${error.message}`);
    });
  }

  async #round(): Promise<MaintenanceReport> {
    const checkpointed = await this.#checkpoint();
    const vacuumed = await this.#vacuum();
    this.#callsSeen = this.#line.calls;
    return { checkpointed, vacuumed };
  }

  async #checkpoint(): Promise<boolean> {
    if (!this.#checkpointIsDue()) return false;
    await this.#script("checkpoint");
    this.#checkpointAt = { walBytes: this.#line.walBytes, time: Date.now() };
    return true;
  }

  async #vacuum(): Promise<string[]> {
    // A session reports its statistics only now and then; this forces it.
    await this.#script("select pg_stat_force_next_flush()");
    const due = (await this.#script(dueTables)) as { name: string }[];
    for (const { name } of due) await this.#script(`vacuum (analyze) ${name}`);
    return due.map(({ name }) => name);
  }

  #checkpointIsDue(): boolean {
    const written = this.#written();
    return written >= checkpointBytes || (written > 0 && Date.now() - this.#checkpointAt.time >= checkpointEveryMs);
  }

  #written(): number {
    return this.#line.walBytes - this.#checkpointAt.walBytes;
  }

  /** In a session, so that it is not sent together with others, whose answers would wait for it. */
  async #script(text: string): Promise<unknown[]> {
    const session = await this.#line.session();
    try {
      return (await session.run({ text, name: "", values: undefined })).rows;
    } finally {
      session.end();
    }
  }
}
