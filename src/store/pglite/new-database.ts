import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { knownMigrations, migrate } from "../port/migrate.ts";
import { openPglite } from "./open.ts";

const here = dirname(fileURLToPath(import.meta.url));
const pattern = /^new-database-[0-9a-f]{16}\.tar\.gz$/;

/**
 * A new database with its schema, as shipped in the package: unpacking it takes half the time of creating one.
 * Undefined if there is none, or only one of another engine or other migrations; then it is created.
 */
export function shippedDatabase(folder = here): string | undefined {
  const path = join(folder, fileName());
  return existsSync(path) ? path : undefined;
}

/** Makes the database that the package ships, unless it is there already, and removes older ones. Run by `npm pack`. */
export async function shipDatabase(folder = here): Promise<string> {
  const path = join(folder, fileName());
  if (!existsSync(path)) {
    const db = await openPglite({ folder: "memory" });
    try {
      await migrate(db);
      writeFileSync(`${path}.part`, await db.dump({ gzip: true }));
    } finally {
      await db.close();
    }
    renameSync(`${path}.part`, path);
  }
  const older = readdirSync(folder).filter((name) => pattern.test(name) && join(folder, name) !== path);
  for (const name of older) rmSync(join(folder, name));
  return path;
}

/** Its name has a hash of its content: the engine, and every migration to the letter. */
function fileName(): string {
  const entry = createRequire(import.meta.url).resolve("@electric-sql/pglite");
  const { version } = JSON.parse(readFileSync(join(dirname(entry), "../package.json"), "utf8")) as { version: string };
  const contents = [version, ...knownMigrations().map((one) => `${one.version} ${one.checksum}`)].join("\n");
  return `new-database-${createHash("sha256").update(contents).digest("hex").slice(0, 16)}.tar.gz`;
}
