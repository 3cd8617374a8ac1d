import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { type PostgresServer, startPostgres } from "../../setup/postgres.ts";

/** What a failover took: from the end of the old primary to a new one that takes writes. */
export interface Failover {
  readonly endedAt: number;
  readonly promotedAt: number;
}

interface PairOptions {
  /** Whether a commit waits for the standby. */
  readonly isSynchronous: boolean;
}

/** Two servers, one of which is the standby of the other. Their roles change with each failover. */
export class Pair {
  readonly #options: PairOptions;
  #primary: Named;
  #standby: Named;
  /** Names both servers, in an order that does not change. */
  readonly url: string;

  private constructor(options: PairOptions, primary: Named, standby: Named) {
    this.#options = options;
    this.#primary = primary;
    this.#standby = standby;
    const hosts = [primary, standby].map(({ server }) => new URL(server.url).host);
    this.url = `postgres://postgres@${hosts.join(",")}/postgres?target_session_attrs=read-write`;
  }

  static async start(options: PairOptions): Promise<Pair> {
    const settings = { synchronous_commit: "on", shared_buffers: "64MB" };
    const first = await startPostgres({ settings: { ...settings, cluster_name: "a" } });
    const second = await startPostgres({ standbyOf: first, settings: { ...settings, cluster_name: "b" } });
    const pair = new Pair(options, { name: "a", server: first }, { name: "b", server: second });
    await pair.#follow();
    return pair;
  }

  get primary(): PostgresServer {
    return this.#primary.server;
  }

  get standby(): PostgresServer {
    return this.#standby.server;
  }

  /** Kills the primary and promotes the standby, after a while without any. */
  async failOver(downMs: number, meanwhile: () => Promise<void> = async () => {}): Promise<Failover> {
    const endedAt = performance.now();
    await this.primary.kill();
    await meanwhile();
    await pause(downMs);
    await this.promote();
    return { endedAt, promotedAt: performance.now() };
  }

  /** Makes the standby the primary; nobody follows it yet, so commits do not wait. */
  async promote(): Promise<void> {
    await run(
      this.standby,
      "alter system reset synchronous_standby_names",
      "select pg_reload_conf()",
      "select pg_promote()",
    );
    [this.#primary, this.#standby] = [this.#standby, this.#primary];
  }

  /** Makes the server that failed the standby of the new primary. */
  async rebuild(): Promise<void> {
    await this.standby.restartAsStandbyOf(this.primary);
    await this.#follow();
  }

  /** What the primary writes no longer reaches the standby. */
  async cutOff(): Promise<void> {
    await run(this.standby, "alter system set primary_conninfo = ''", "select pg_reload_conf()");
    await until(this.primary, "select count(*) = 0 as so from pg_stat_replication");
  }

  /** The process of the standby that receives what the primary writes. */
  async receiver(): Promise<number> {
    const [row] = await run(this.standby, "select pid from pg_stat_wal_receiver");
    return (row as { pid: number }).pid;
  }

  async stop(): Promise<void> {
    await Promise.all([this.primary.stop(), this.standby.stop()]);
  }

  /** Returns when the standby streams; from then on commits wait for it. */
  async #follow(): Promise<void> {
    await until(this.primary, "select count(*) > 0 as so from pg_stat_replication where state = 'streaming'");
    if (!this.#options.isSynchronous) return;
    await run(
      this.primary,
      `alter system set synchronous_standby_names = 'ANY 1 (${this.#standby.name})'`,
      "select pg_reload_conf()",
    );
    await until(this.primary, "select count(*) > 0 as so from pg_stat_replication where sync_state = 'quorum'");
  }
}

interface Named {
  readonly name: "a" | "b";
  readonly server: PostgresServer;
}

/** Runs statements, each in its own transaction; gives back the rows of the last one. */
async function run({ url }: PostgresServer, ...texts: readonly string[]): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const text of texts) ({ rows } = await client.query(text));
    return rows;
  } finally {
    await client.end();
  }
}

async function until(server: PostgresServer, question: string): Promise<void> {
  for (;;) {
    const [row] = await run(server, question);
    if ((row as { so: boolean }).so) return;
    await pause(50);
  }
}
