import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createPawl, type DatabaseLocation, lifecycle, type Pawl } from "pawl";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { readReplication } from "../../src/views/replication.ts";
import { foldersWith } from "../setup/find-program.ts";
import { freePort, unprivileged } from "../setup/keep.ts";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { onOwnPostgres } from "../setup/suites.ts";
import { gateOf } from "../support/gate.ts";

const gates = { began: gateOf(), opened: gateOf() };

const parcel = lifecycle("parcel", {
  initial: "packing",
  states: {
    packing: {
      run: async (step) => {
        gates.began.resolve();
        await gates.opened.promise;
        return step.go("packed");
      },
      retry: { maxAttempts: 1 },
      on: { packed: "waiting" },
    },
    waiting: { forever: true, on: { noted: {}, sent: "done" } },
    done: { final: "success" },
  },
});

const open = (database: DatabaseLocation): Promise<Pawl> =>
  createPawl({ database, lifecycles: [parcel], logger: false });

/**
 * Works on one instance until its lease has been renewed twice, which is done by a thread with a connection of its own.
 * `admin` is a URL that leads to the same server.
 */
async function workUntilRenewed(pawl: Pawl, key: string, admin: string): Promise<void> {
  gates.began = gateOf();
  gates.opened = gateOf();
  const client = new pg.Client({ connectionString: admin });
  await client.connect();
  const leasedUntil = async (): Promise<number> => {
    const { rows } = await client.query("select extract(epoch from max(leased_until)) as until from pawl.tasks");
    return Number(rows[0].until);
  };
  const worker = pawl.work({ pollInterval: 50, leaseDuration: "3s" });
  await pawl.start(parcel, { key });
  await gates.began.promise;
  for (let left = 2, last = await leasedUntil(); left > 0; ) {
    const now = await leasedUntil();
    if (now <= last) continue;
    last = now;
    left -= 1;
  }
  gates.opened.resolve();
  expect(await pawl.wait(parcel, key, { until: "waiting", timeout: "30s" })).toMatchObject({ state: "waiting" });
  await worker.stop();
  await client.end();
}

async function execute(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** `postgres://…` with the hosts of all servers, in this order. */
function urlOfAll(...servers: readonly string[]): string {
  const hosts = servers.map((url) => new URL(url).host);
  return servers[0]!.replace(hosts[0]!, hosts.join(","));
}

onOwnPostgres("several hosts", () => {
  let primary: PostgresServer;
  let standby: PostgresServer;
  beforeAll(async () => {
    primary = await startPostgres();
    standby = await startPostgres({ standbyOf: primary });
  }, 120_000);
  afterAll(async () => {
    await primary.stop();
    await standby.stop();
  });

  test("the one that takes writes is used, also by the thread that renews leases", async () => {
    const away = `postgres://postgres@127.0.0.1:${await freePort()}/postgres`;
    await using pawl = await open(urlOfAll(away, standby.url, primary.url));
    await workUntilRenewed(pawl, "a", primary.url);
    expect(await pawl.inspect.verify()).toEqual([]);
  });

  test("the standby is listed for `pawl doctor`", async () => {
    const db = await openPostgres({ url: primary.url, connections: 1 });
    const open = new pg.Client({ connectionString: primary.url, application_name: "an editor" });
    await open.connect();
    await open.query("begin");
    const found = await readReplication(db);
    expect(found.standbys).toEqual([{ name: expect.any(String), sync: "async", state: "streaming" }]);
    expect(found).toMatchObject({ sees: true, synchronous: "", waiting: 0, horizon: { what: "transaction" } });
    await open.end();
    await db.close();
  });

  test("none of them takes writes: each is named with what is wrong", async () => {
    const away = `postgres://postgres@127.0.0.1:${await freePort()}/postgres`;
    await expect(open(urlOfAll(away, standby.url))).rejects.toMatchObject({
      code: "database_unreachable",
      message: expect.stringMatching(/None of the 2 database hosts accepts writes\..*ECONNREFUSED.*standby/),
    });
  });

  test("an old primary that came back, and takes no writes by its settings, is passed over without a statement", async () => {
    await execute(
      primary.url,
      "create role fenced superuser login",
      "alter role fenced set default_transaction_read_only = on",
    );
    await caughtUp(primary, standby);
    const fenced = primary.url.replace("//postgres@", "//fenced@");
    await expect(open(urlOfAll(fenced, standby.url.replace("//postgres@", "//fenced@")))).rejects.toMatchObject({
      code: "database_unreachable",
      message: expect.stringContaining("default_transaction_read_only = on"),
    });
  });

  test("a database that does not exist is reported at once: the other hosts are copies of the same", async () => {
    const database = urlOfAll(primary.url, standby.url).replace(/postgres$/, "no_such_database");
    await expect(open(database)).rejects.toMatchObject({ code: "database_refused" });
  });

  test("a failover: calls, the listener, the worker and its leases move to the new primary by themselves", async () => {
    await using pawl = await open(urlOfAll(primary.url, standby.url));
    await pawl.start(parcel, { key: "b" });
    await caughtUp(primary, standby);
    await primary.crash();
    await execute(standby.url, "select pg_promote()");
    await workUntilRenewed(pawl, "c", standby.url);
    expect(await pawl.get(parcel, "b")).toMatchObject({ key: "b" });
    expect(await pawl.inspect.verify()).toEqual([]);
  });
});

/** Waits until the standby has replayed all that the primary has written. */
async function caughtUp(primary: PostgresServer, standby: PostgresServer): Promise<void> {
  const client = new pg.Client({ connectionString: primary.url });
  const other = new pg.Client({ connectionString: standby.url });
  await Promise.all([client.connect(), other.connect()]);
  const { rows } = await client.query("select pg_current_wal_insert_lsn()::text as lsn");
  for (let isThere = false; !isThere; ) {
    const replayed = await other.query("select pg_last_wal_replay_lsn() >= $1::pg_lsn as there", [rows[0].lsn]);
    isThere = replayed.rows[0].there;
  }
  await Promise.all([client.end(), other.end()]);
}

onOwnPostgres("a server that asks for passwords and TLS", () => {
  let server: PostgresServer;
  let target: { host: string; port: number; user: string; database: string };
  let certificate: string;
  beforeAll(async () => {
    server = await startPostgres();
    await execute(server.url, "create role ada login superuser password 'first'");
    const { dataFolder } = server;
    const [openssl] = foldersWith("openssl", []);
    if (openssl !== undefined) {
      const key = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"];
      const files = ["-keyout", join(dataFolder, "server.key"), "-out", join(dataFolder, "server.crt")];
      const names = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"];
      execFileSync(join(openssl, "openssl"), [...key, ...files, ...names], { ...unprivileged(), stdio: "ignore" });
      certificate = readFileSync(join(dataFolder, "server.crt"), "utf8");
      await execute(server.url, "alter system set ssl = on");
    }
    await execute(
      server.url,
      `copy (select 'host all postgres 127.0.0.1/32 trust' union all
      select 'hostssl all all 127.0.0.1/32 scram-sha-256') to '${join(dataFolder, "pg_hba.conf")}'`,
    );
    await execute(server.url, "select pg_reload_conf()");
    const { hostname, port } = new URL(server.url);
    target = { host: hostname, port: Number(port), user: "ada", database: "postgres" };
  }, 120_000);
  afterAll(() => server.stop());

  test("a function returns the password of each new connection, in the lease thread, too", async () => {
    let current = "first";
    let calls = 0;
    const password = async () => {
      calls += 1;
      return current;
    };
    await using pawl = await open({ ...target, password, ssl: { ca: certificate } });
    await workUntilRenewed(pawl, "d", server.url);
    expect(calls).toBeGreaterThan(2);
    current = "second";
    await execute(
      server.url,
      "alter role ada password 'second'",
      "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ada'",
    );
    await workUntilRenewed(pawl, "e", server.url);
  });

  test("a function that fails says so, and leaves nothing open", async () => {
    const password = () => Promise.reject(new Error("the token service is away"));
    await expect(open({ ...target, password, ssl: { ca: certificate } })).rejects.toMatchObject({
      code: "database_unreachable",
      message: expect.stringContaining("the token service is away"),
    });
  });

  test("a certificate that is not trusted is refused", async () => {
    await expect(open({ ...target, password: "second", ssl: true })).rejects.toMatchObject({
      code: "database_unreachable",
      message: expect.stringMatching(/self[- ]signed certificate/),
    });
  });

  test("a pool lends its settings, not its connections, and stays open", async () => {
    const pool = new pg.Pool({ ...target, password: "second", ssl: { ca: certificate }, max: 1 });
    const pawl = await open(pool);
    const held = await pool.connect();
    await workUntilRenewed(pawl, "f", server.url);
    await held.query("begin");
    await pawl.send(parcel, "f", "sent", { tx: held });
    await held.query("rollback");
    expect(await pawl.get(parcel, "f")).toMatchObject({ state: "waiting" });
    held.release();
    await pawl.close();
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  test("settings that a thread cannot be given renew leases in the process", async () => {
    const checkServerIdentity = () => undefined;
    await using pawl = await open({ ...target, password: "second", ssl: { ca: certificate, checkServerIdentity } });
    await workUntilRenewed(pawl, "g", server.url);
  });
});
