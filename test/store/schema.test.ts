import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newPostgresStore } from "../../src/testing/stores.ts";
import { run } from "../setup/find-program.ts";
import { onPostgres } from "../setup/suites.ts";

const bin = process.env.PAWL_TEST_PG_BIN;
const program = bin === undefined ? undefined : join(bin, "pg_dump");

const heading = `-- The schema as all migrations leave it, to be read and to be compared: a migration shows here what it changes.
-- Written by \`npm run schema\`; a test holds it to the migrations.
`;

/** What pg_dump says, without what depends on its minor version, on the server or on the day. */
function normalised(dump: string): string {
  const kept = dump
    .split("\n")
    .filter((line) => !/^(?:--|SET |SELECT pg_catalog\.set_config|\\(?:un)?restrict)/.test(line))
    .join("\n");
  return `${heading}\n${kept.replace(/\n{3,}/g, "\n\n").trim()}\n`;
}

onPostgres("on PostgreSQL", () => {
  test.skipIf(program === undefined || !existsSync(program))(
    "src/store/schema.sql is what the migrations make (needs pg_dump)",
    async (context) => {
      const store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
      try {
        const { stdout } = await run(program!, [
          "--schema-only",
          "--no-owner",
          "--no-privileges",
          "--schema=pawl",
          `--dbname=${store.url}`,
        ]).catch((error: Error) =>
          error.message.includes("server version mismatch")
            ? context.skip("pg_dump is older than the server")
            : Promise.reject(error),
        );
        await expect(normalised(stdout)).toMatchFileSnapshot("../../src/store/schema.sql");
      } finally {
        await store.dispose();
      }
    },
  );
});
