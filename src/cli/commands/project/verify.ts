import type { Command } from "commander";
import type { Act } from "../../program.ts";
import { exitCodes } from "../../show/failure.ts";
import { type Column, printJson, printTable } from "../../show/terminal.ts";

interface Found {
  readonly invariant: string;
  readonly instance: string | null;
  readonly message: string;
}

export function addVerify(program: Command, act: Act): void {
  program
    .command("verify")
    .description("check the stored data against Pawl's invariants; read-only; exits with 1 on a violation")
    .action(
      act(async ({ terminal, flags, env, cwd }) => {
        const { loadProject } = await import("../../project/settings.ts");
        const { createPawl } = await import("../../../api/open/create.ts");
        const { database, folder, config } = await loadProject(flags, env, cwd);
        const pawl = await createPawl({
          database,
          folder,
          lifecycles: config.lifecycles,
          queues: config.queues,
          crowds: config.crowds,
          marketplaces: config.marketplaces,
          migrate: false,
        });
        try {
          const found: Found[] = await pawl.inspect.verify();
          if (terminal.json) printJson(terminal, found);
          else if (found.length > 0) printTable(terminal, found, columns);
          else terminal.print("No violations found.");
          return found.length === 0 ? exitCodes.ok : exitCodes.failed;
        } finally {
          await pawl.close();
        }
      }),
    );
}

const columns: readonly Column<Found>[] = [
  { title: "invariant", text: (one) => one.invariant },
  { title: "instance", text: (one) => one.instance ?? "" },
  { title: "what is wrong", text: (one) => one.message },
];
