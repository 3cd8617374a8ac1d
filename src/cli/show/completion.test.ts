import { spawnSync } from "node:child_process";
import { Command } from "commander";
import { expect, test } from "vitest";
import { completionFor } from "./completion.ts";

function program(): Command {
  const pawl = new Command("pawl").option("--json", "print one JSON document");
  pawl.command("status").description("show what isn't done").option("--watch", "show it again");
  const instance = pawl.command("instance").description("use instances");
  instance.command("list").description("list instances").option("--state <state>", "only this state");
  instance.command("show").description("show one");
  return pawl;
}

const hasBash = spawnSync("bash", ["-c", "type complete compgen"]).status === 0;

/** What bash offers for the last of some words. */
function offered(...words: string[]): string[] {
  const all = words.map((word) => `'${word}'`).join(" ");
  const script = `${completionFor("bash", program())}COMP_WORDS=(pawl ${all}); COMP_CWORD=${words.length}; _pawl; echo "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.trim().split(" ");
}

test.runIf(hasBash)("bash completes commands, their subcommands and their options", () => {
  expect(offered("st")).toEqual(["status"]);
  expect(offered("instance", "")).toEqual(expect.arrayContaining(["list", "show", "--help", "--json"]));
  expect(offered("instance", "list", "order", "--st")).toEqual(["--state"]);
  expect(offered("--json", "status", "--w")).toEqual(["--watch"]);
  expect(offered("nothing", "--state")).toEqual([""]);
});

test("zsh reads the script of bash; fish gets lines with descriptions in quotes", () => {
  expect(completionFor("zsh", program())).toContain("bashcompinit");
  const fish = completionFor("fish", program());
  expect(fish).toContain(
    `complete -c pawl -f -n 'not __fish_seen_subcommand_from status instance' -a status -d 'show what isn\\'t done'`,
  );
  expect(fish).toContain(
    `complete -c pawl -n '__fish_seen_subcommand_from instance; and __fish_seen_subcommand_from list' -l state -d 'only this state'`,
  );
});
