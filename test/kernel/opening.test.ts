import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPawl, isPawlError, job, lifecycle, type PawlError, type PawlOptions, queue } from "pawl";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { freePort } from "../setup/keep.ts";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { onOwnPostgres, onPostgres } from "../setup/suites.ts";
import { emptyDatabase } from "../support/empty-database.ts";
import { oldServer } from "../support/old-server.ts";

const door = lifecycle("door", {
  initial: "open",
  states: { open: { forever: true, on: { shut: "shut" } }, shut: { final: "success" } },
});
const lifecycles = [door];

/** Opening must be refused: with this code, with a sentence that says what to do, and without the password in it. */
async function refused(options: unknown, code: string, says: RegExp | string): Promise<PawlError> {
  const error = await createPawl(options as PawlOptions).then(
    async (pawl) => {
      await pawl.close();
      return undefined;
    },
    (thrown: unknown) => thrown,
  );
  if (!isPawlError(error)) throw new Error(`Not refused, but: ${String(error)}`, { cause: error });
  expect(error, error.message).toMatchObject({ code });
  expect(error.message).toMatch(says);
  expect(error.message).toMatch(/[.?]$/);
  expect(`${error.message} ${JSON.stringify(error.details)}`).not.toContain("secret");
  return error;
}

describe("what createPawl is given", () => {
  test("lifecycles that are missing, doubled or something else are refused before anything is opened", async () => {
    const mail = job("mail", { run: () => {} });
    const essays = queue("essays", { label: z.object({ score: z.number() }), overlap: 1 });
    await refused(null, "option_invalid", "takes an object with `database`");
    for (const given of [undefined, {}, { lifecycles: undefined }, { lifecycles: door }, { lifecycles: "door" }]) {
      await refused(given, "option_invalid", "createPawl needs `lifecycles`: a list");
    }
    for (const other of [undefined, null, "door", {}, { name: "door" }, essays, lifecycle]) {
      await refused(
        { lifecycles: [mail, other] },
        "option_invalid",
        "must list return values of lifecycle() and job()",
      );
    }
    const twin = lifecycle("door", {
      initial: "a",
      states: { a: { forever: true, on: { go: "b" } }, b: { final: "success" } },
    });
    await refused({ lifecycles: [door, twin] }, "option_invalid", "Two lifecycles have the name `door`");
    await refused({ lifecycles: [door, door] }, "option_invalid", "Two lifecycles have the name `door`");
  });

  test("a database that is no URL is refused, and its password is not repeated", async () => {
    for (const database of ["localhost", "mysql://ada:secret@host/name", "./.pawl", "postgres"]) {
      await refused({ lifecycles, database }, "option_invalid", /must be a URL such as postgres:\/\//);
    }
    for (const database of [
      "postgres://ada:secret@[::1/name",
      "postgres://ada:secret@host:many/name",
      "postgres://ada:secret#1@host/x",
    ]) {
      const error = await refused({ lifecycles, database }, "option_invalid", "The database URL cannot be read");
      expect(error.cause).toBeUndefined();
    }
  });

  test("a misspelt option is refused with the name that was probably meant", async () => {
    await refused({ lifecycles, databse: "postgres://localhost/x" }, "option_invalid", "Did you mean `database`?");
  });

  test("in production an embedded database is opened only where its folder is named", async () => {
    vi.stubEnv("NODE_ENV", "production");
    try {
      for (const database of [undefined, ""])
        await refused({ lifecycles, database }, "option_invalid", "NODE_ENV is production");
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("other options that make no sense are refused", async () => {
    for (const folder of ["", 5, {}, null]) await refused({ lifecycles, folder }, "option_invalid", "`folder` must be");
    for (const connections of [0, -1, 1.5, "10", Number.NaN, 100_000]) {
      const database = "postgres://ada@localhost/name";
      await refused({ lifecycles, database, connections }, "option_invalid", "`connections` must be");
    }
  });
});

describe("the embedded database", () => {
  let place: string;
  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), "pawl-opening-"));
  });
  afterAll(() => rm(place, { recursive: true, force: true }));

  test("a folder that is a file is told, and left as it is", async () => {
    const file = join(place, "file");
    await writeFile(file, "mine");
    await refused({ lifecycles, folder: file }, "folder_unusable", file);
    await refused({ lifecycles, folder: join(file, "below") }, "folder_unusable", /Could not create folder/);
    const folder = join(place, "holds-a-file");
    await mkdir(folder);
    await writeFile(join(folder, "db"), "mine");
    await refused({ lifecycles, folder }, "folder_unusable", /it is a file, not a folder/);
  });

  test("a folder that holds something else is told, and left as it is", async () => {
    const folder = join(place, "holds-other");
    await mkdir(join(folder, "db"), { recursive: true });
    await writeFile(join(folder, "db", "thesis.txt"), "mine");
    await refused({ lifecycles, folder }, "folder_unusable", /holds something else \(thesis\.txt\)/);
    expect(await readdir(join(folder, "db"))).toEqual(["thesis.txt"]);
  });

  test("migrate: false on an empty database says which migrations are missing and how to apply them", async () => {
    const folder = join(place, "empty");
    await refused(
      { lifecycles, folder, migrate: false },
      "not_migrated",
      /lacks \d+ migrations .*ground.* Run `pawl migrate`/,
    );
    const pawl = await createPawl({ lifecycles, folder });
    await pawl.close();
    const again = await createPawl({ lifecycles, folder, migrate: false });
    expect(await again.start(door, { key: "d" })).toMatchObject({ created: true });
    await again.close();
  });

  test("a definition that is refused leaves the folder free for the next start", async () => {
    const folder = join(place, "refused");
    await (await createPawl({ lifecycles, folder })).close();
    const changed = lifecycle("door", {
      initial: "open",
      states: { open: { forever: true, on: { lock: "locked" } }, locked: { final: "success" } },
    });
    await refused({ lifecycles: [changed], folder }, "definition_changed", "raise `version` to 2");
    await (await createPawl({ lifecycles, folder })).close();
  });
});

describe("a server that is not there, or not what it seems", () => {
  test("nobody listens", async () => {
    const port = await freePort();
    for (const host of ["127.0.0.1", "localhost"]) {
      const error = await refused(
        { lifecycles, database: `postgres://ada:secret@${host}:${port}/name` },
        "database_unreachable",
        /ECONNREFUSED/,
      );
      expect(error.message).toMatch(/Is it running, and is its address right\?$/);
    }
  });

  test("a `database` that is neither URL, options nor pool", async () => {
    for (const database of [7, null, true] as unknown as string[]) {
      await refused({ lifecycles, database }, "option_invalid", /must be a URL, connection options, or a `pg.Pool`/);
    }
    for (const database of [{}, [], { connect: true }] as unknown as string[]) {
      await refused({ lifecycles, database }, "option_invalid", /database/);
    }
  });

  test("a host that does not exist", async () => {
    const database = "postgres://ada:secret@no-such-host.invalid/name";
    await refused({ lifecycles, database }, "database_unreachable", /no-such-host\.invalid/);
  });

  test("somebody listens who hangs up", async () => {
    const server = createServer((socket) => socket.destroy());
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    await refused(
      { lifecycles, database: `postgres://ada@127.0.0.1:${port}/name` },
      "database_unreachable",
      "cannot be reached",
    );
    server.close();
  });

  test("a server older than 14 is told which version it has and which is needed", async () => {
    await using old = await oldServer("130014");
    await refused(
      { lifecycles, database: old.url },
      "database_unsupported",
      "Pawl needs PostgreSQL 14 or newer, and this server is 13.",
    );
  });
});

onPostgres("PostgreSQL", () => {
  test("a database that does not exist is told by its name", async () => {
    const database = new URL(process.env.PAWL_TEST_POSTGRES_URL!);
    database.pathname = "/no_such_database";
    await refused(
      { lifecycles, database: database.href },
      "database_refused",
      /"no_such_database" does not exist.* Create the database/,
    );
  });

  test("migrate: false on an empty database leaves it empty", async () => {
    await using empty = await emptyDatabase();
    await refused({ lifecycles, database: empty.url, migrate: false }, "not_migrated", "Run `pawl migrate`");
    const client = new pg.Client({ connectionString: empty.url });
    await client.connect();
    const { rows } = await client.query("select nspname from pg_namespace where nspname = 'pawl'");
    await client.end();
    expect(rows).toEqual([]);
  });

  test("a Pawl that could not be opened leaves no connection behind", async () => {
    await using empty = await emptyDatabase();
    await refused({ lifecycles, database: empty.url, migrate: false }, "not_migrated", "Run `pawl migrate`");
    const client = new pg.Client({ connectionString: empty.url });
    await client.connect();
    const { rows } = await client.query(
      "select count(*)::int as open from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'",
    );
    await client.end();
    expect(rows).toEqual([{ open: 0 }]);
  });
});

onOwnPostgres("a server that asks for passwords and rights", () => {
  let server: PostgresServer;
  let url: (user: string, password: string) => string;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join("/tmp", "pawl-hba-"));
    const hba = join(folder, "pg_hba.conf");
    await writeFile(
      hba,
      "host all postgres 127.0.0.1/32 trust\nhost all eve 127.0.0.1/32 reject\nhost all all 127.0.0.1/32 scram-sha-256\n",
    );
    await chmod(folder, 0o755);
    server = await startPostgres({ settings: { hba_file: hba } });
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    for (const what of ["role ada login password 'right-secret'", "role eve login", "database post"]) {
      await client.query(`create ${what}`);
    }
    await client.end();
    url = (user, password) => {
      const changed = new URL(server.url);
      changed.username = user;
      changed.password = password;
      changed.pathname = "/post";
      return changed.href;
    };
  });
  afterAll(async () => {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test("a wrong password is told, and not repeated", async () => {
    const error = await refused(
      { lifecycles, database: url("ada", "wrong-secret") },
      "database_refused",
      /password authentication failed for user "ada"/,
    );
    expect(error.message).toMatch(/Check the user and the password in the database URL\.$/);
  });

  test("a user that the server does not know, or does not let in, is told", async () => {
    await refused({ lifecycles, database: url("bob", "secret") }, "database_refused", "Check the user");
    await refused({ lifecycles, database: url("eve", "secret") }, "database_refused", "pg_hba.conf");
  });

  test("a user that may not create a schema is told, and may use one that is there", async () => {
    const database = url("ada", "right-secret");
    await refused({ lifecycles, database }, "database_refused", /permission denied.* Give the user/);
    const owner = url("postgres", "");
    await (await createPawl({ lifecycles, database: owner })).close();
    const client = new pg.Client({ connectionString: owner });
    await client.connect();
    await client.query(
      "grant usage on schema pawl to ada; grant all on all tables in schema pawl to ada; grant all on all sequences in schema pawl to ada",
    );
    await client.end();
    const pawl = await createPawl({ lifecycles, database });
    expect(await pawl.start(door, { key: "d" })).toMatchObject({ created: true });
    await pawl.close();
  });
});
