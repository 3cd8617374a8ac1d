import type { Command } from "commander";
import type { Act } from "../../program.ts";
import { exitCodes } from "../../show/failure.ts";
import { type Column, printJson, printTable } from "../../show/terminal.ts";

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly applied: boolean;
  readonly breaking: boolean;
}

export function addMigrate(program: Command, act: Act): void {
  program
    .command("migrate")
    .description("apply pending migrations to the database")
    .option("--status", "only list pending migrations; exits with 1 if there are any")
    .action(
      act<{ status?: boolean }>(async ({ terminal, flags, env, cwd }, { status }) => {
        const { loadSettings } = await import("../../project/settings.ts");
        const { openDatabase } = await import("../../../api/open/create.ts");
        const { migrateDatabase, migrationStatus } = await import("../../../api/open/database.ts");
        const { database, folder } = await loadSettings(flags, env, cwd);
        const db = await openDatabase({ database, folder, onWarning: (text) => terminal.note(text) });
        try {
          const applied = status === true ? [] : await migrateDatabase(db);
          const migrations = await migrationStatus(db);
          if (terminal.json) printJson(terminal, { applied, migrations });
          else if (status === true) printTable(terminal, migrations, columns);
          else for (const line of report(applied, migrations)) terminal.print(line);
          return migrations.every((one) => one.applied) ? exitCodes.ok : exitCodes.failed;
        } finally {
          await db.close();
        }
      }),
    );
}

function report(applied: readonly string[], migrations: readonly Migration[]): string[] {
  const last = migrations.at(-1)!;
  if (applied.length === 0) return [`The schema is up to date, at ${last.version} (${last.name}).`];
  return [...applied.map((name) => `Applied ${name}.`), `The schema is now at ${last.version} (${last.name}).`];
}

const columns: readonly Column<Migration>[] = [
  { title: "version", text: (one) => String(one.version), alignRight: true },
  { title: "name", text: (one) => one.name },
  {
    title: "status",
    text: (one) => (one.applied ? "applied" : "pending"),
    shown: (one, paint) => (one.applied ? paint.green("applied") : paint.yellow("pending")),
  },
  { title: "kind", text: (one) => (one.breaking ? "breaking" : "additive") },
];
