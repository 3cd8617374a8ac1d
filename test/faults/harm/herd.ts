import { type Db, sql } from "../../../src/store/port/db.ts";
import { Bounds } from "../checks/bounds.ts";
import { Calls } from "../checks/calls.ts";
import { Handlers } from "../checks/handlers.ts";
import { type Said, WorkerProcess } from "./worker-process.ts";

/** What each worker process is given: steps at once, connections, and memory in megabytes. */
const concurrency = 8;
const connections = 4;
const mostMegabytes = 400;
/** In addition to the pool: one that renews leases, and one that listens. */
const companions = 2;

/** Worker processes on one database: started, killed and stopped; their output and that of their steps is collected. */
export class Herd {
  readonly handlers = new Handlers();
  readonly bounds = new Bounds();
  readonly calls = new Calls((worker) => this.alive.has(worker));
  readonly alive = new Set<WorkerProcess>();
  /** Who has begun a step, by its idempotency key. */
  readonly #by = new Map<string, Set<WorkerProcess>>();
  readonly #done = new Map<WorkerProcess, number>();
  readonly #url: string;
  #begun = 0;
  #ends = 0;
  #wakeUp: () => void = () => {};

  constructor(url: string) {
    this.#url = url;
  }

  /** How many steps were done. */
  get ends(): number {
    return this.#ends;
  }

  /** Another one; `through` another address of the same database, if given. */
  begin(env: Record<string, string> = {}, through = this.#url): WorkerProcess {
    const url = new URL(through);
    const name = `worker_${++this.#begun}`;
    url.searchParams.set("application_name", name);
    const bounds = { PAWL_VICTIM_CONNECTIONS: String(connections), PAWL_VICTIM_CONCURRENCY: String(concurrency) };
    const own = { PAWL_VICTIM_URL: url.href, ...bounds };
    const worker = new WorkerProcess({ ...own, ...env }, (said) => this.#hear(said, name));
    this.alive.add(worker);
    void worker.ended.then(() => this.alive.delete(worker));
    return worker;
  }

  async kill(worker: WorkerProcess): Promise<void> {
    this.alive.delete(worker);
    await worker.kill();
  }

  async end(): Promise<void> {
    await Promise.all([...this.alive].map((worker) => this.kill(worker)));
  }

  /** Whether another worker has begun one of these steps, too. */
  isTakenOver(keys: readonly string[], from: WorkerProcess): boolean {
    return keys.some((key) => [...(this.#by.get(key) ?? [])].some((by) => by !== from));
  }

  /** Resolves when the output of the workers fulfils it. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await new Promise<void>((resolve) => {
        this.#wakeUp = resolve;
      });
    }
  }

  /**
   * Offers work until each of them has done this many more steps: a worker that does not come back fails by the
   * timeout.
   */
  async untilAllWork(steps: number, offer: () => Promise<void>): Promise<void> {
    const before = new Map(this.#done);
    const isBehind = (worker: WorkerProcess) => (this.#done.get(worker) ?? 0) - (before.get(worker) ?? 0) < steps;
    while ([...this.alive].some(isBehind)) await offer();
  }

  /** Compares the connections of each process with its limit. */
  async countConnections(db: Db): Promise<void> {
    const open = await db.rows<{ name: string; count: number }>(sql`
      select application_name as name, count(*)::int as count from pg_stat_activity
      where application_name like 'worker%' group by application_name`);
    for (const { name, count } of open) this.bounds.hold(`Connections of ${name}`, count, connections + companions);
  }

  #hear(said: Said, name: string): void {
    const { by, what } = said;
    const [first = "", attempt = "", key = ""] = said.words;
    this.calls.hear(said);
    if (what === "begin") {
      this.handlers.begin(key, Number(attempt));
      this.#by.set(key, (this.#by.get(key) ?? new Set()).add(by));
      this.bounds.hold(`Steps of ${name} at once`, by.running.size, concurrency);
    }
    if (what === "end") {
      this.handlers.end(key);
      this.#ends += 1;
      this.#done.set(by, (this.#done.get(by) ?? 0) + 1);
    }
    if (what === "megabytes") this.bounds.hold(`Megabytes of ${name}`, Number(first), mostMegabytes);
    if (what === "unheard") this.bounds.unheard(name, first);
    this.#wakeUp();
  }
}
