import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { Command } from "commander";
import { messageOf, PawlError } from "../../../base/errors.ts";
import type { Act } from "../../program.ts";
import { newProject } from "../../project/new-project.ts";
import { printJson } from "../../show/terminal.ts";

export function addInit(program: Command, act: Act): void {
  program
    .command("init")
    .description("create a project: a lifecycle, its config and a test; existing files are kept")
    .argument("[folder]", "target folder (default: the current folder)")
    .action(
      act<object>(async ({ terminal, cwd }, _options, given) => {
        const folder = resolve(cwd, given ?? ".");
        const written = write(folder);
        if (terminal.json) {
          printJson(terminal, { folder, written });
          return undefined;
        }
        for (const name of written) terminal.print(`Wrote ${relative(cwd, join(folder, name))}`);
        const here = relative(cwd, folder);
        const steps = [...(here === "" ? [] : [`cd ${here}`]), "npm install pawl zod tsx", "npx pawl start"];
        terminal.note(`\nNext:\n${steps.map((step) => `  ${step}`).join("\n")}\n`);
        terminal.note("Its test: node --import tsx --test order.test.ts");
        return undefined;
      }),
    );
}

/** Writes all files or none: existing files are never overwritten. */
function write(folder: string): string[] {
  const there = Object.keys(newProject).filter((name) => existsSync(join(folder, name)));
  if (there.length > 0) {
    const message = `${there.join(", ")} already ${there.length === 1 ? "exists" : "exist"}; nothing was written. Name another folder: pawl init my-project`;
    throw new PawlError("option_invalid", message, { folder, there });
  }
  try {
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(newProject)) writeFileSync(join(folder, name), text, { flag: "wx" });
    return [...Object.keys(newProject), ...prepare(folder)];
  } catch (error) {
    throw new PawlError("folder_unusable", `${folder} cannot be written to: ${messageOf(error)}.`, { folder });
  }
}

/** Files around the project: a package of modules, and a database that git ignores. */
function prepare(folder: string): string[] {
  const written: string[] = [];
  if (!existsSync(join(folder, "package.json"))) {
    writeFileSync(join(folder, "package.json"), '{\n  "private": true,\n  "type": "module"\n}\n');
    written.push("package.json");
  }
  const ignored = join(folder, ".gitignore");
  const text = existsSync(ignored) ? readFileSync(ignored, "utf8") : "";
  const lines = ["node_modules/", ".pawl/"].filter((line) => !text.split("\n").includes(line));
  if (lines.length > 0) {
    appendFileSync(ignored, `${text === "" || text.endsWith("\n") ? "" : "\n"}${lines.join("\n")}\n`);
    written.push(".gitignore");
  }
  return written;
}
