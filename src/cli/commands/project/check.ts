import type { Command } from "commander";
import { messageOf, type PawlError } from "../../../base/errors.ts";
import type { AnyCrowd } from "../../../definition/crowd.ts";
import type { AnyLifecycle } from "../../../definition/language/public-types.ts";
import type { Fault } from "../../../definition/read/fault.ts";
import type { Act } from "../../program.ts";
import type { LoadedConfig } from "../../project/load-config.ts";
import { exitCodes, readFailure } from "../../show/failure.ts";
import { pad, printJson, type Terminal } from "../../show/terminal.ts";

export function addCheck(program: Command, act: Act): void {
  program
    .command("check")
    .description("check all lifecycles and crowds of the config; exits with 1 if one has a fault, and prints warnings")
    .option("--diagram", "also print each as a Mermaid diagram")
    .action(
      act<{ diagram?: boolean }>(async ({ terminal, flags, env, cwd }, { diagram: drawn }) => {
        const { findConfig, loadConfig } = await import("../../project/load-config.ts");
        const { missingConfig } = await import("../../project/settings.ts");
        const { collectInvalid } = await import("../../../definition/read/fault.ts");
        const path = findConfig(flags.config ?? env.PAWL_CONFIG, cwd) ?? missingConfig(cwd);
        let config: LoadedConfig | undefined;
        const gathered = await collectInvalid(async () => {
          config = await loadConfig(path);
        });
        if (gathered.length > 0) {
          const broken = gathered.flatMap((error) => readFailure(error) ?? []);
          if (terminal.json) printJson(terminal, { ok: false, lifecycles: [], faults: broken.flatMap(faultsOf) });
          else for (const each of broken) printBroken(terminal, each);
          return exitCodes.failed;
        }
        const { lifecycles } = config!;
        const crowds = await crowdsOf(config!);
        const { recoveryWarnings } = await import("../../../definition/read/check-recovery.ts");
        const warnings = lifecycles.flatMap((one) =>
          recoveryWarnings(one).map((warning) => ({ definition: `lifecycle "${one.name}"`, ...warning })),
        );
        if (terminal.json) {
          const sound = { lifecycles: lifecycles.map(summaryOf), crowds: crowds.map(crowdSummary) };
          printJson(terminal, { ok: true, ...sound, faults: [], warnings });
        } else {
          printSound(terminal, lifecycles, crowds);
          for (const each of warnings) printWarning(terminal, each);
        }
        if (drawn === true && !terminal.json) await printDiagrams(terminal, lifecycles);
        return exitCodes.ok;
      }),
    );
}

/** Checks the crowds of a config against their marketplaces. */
async function crowdsOf(config: LoadedConfig): Promise<readonly AnyCrowd[]> {
  const { readDeclared } = await import("../../../api/open/create.ts");
  const { invalid } = await import("../../project/load-config.ts");
  try {
    const { lifecycles, schedules, queues, crowds, marketplaces } = config;
    return readDeclared({ lifecycles, schedules, queues, crowds, marketplaces }).crowds;
  } catch (error) {
    throw invalid(config.path, "cannot be used as it is", messageOf(error), error);
  }
}

function crowdSummary({ name, marketplace, submissions }: AnyCrowd): object {
  return { name, marketplace, submissions };
}

function summaryOf({ name, version, states, edges }: AnyLifecycle): object {
  return { name, version, states: [...states.keys()], events: [...new Set(edges.map((edge) => edge.event))] };
}

function printSound(terminal: Terminal, lifecycles: readonly AnyLifecycle[], crowds: readonly AnyCrowd[]): void {
  const { green, bold, dim } = terminal.paint;
  const widest = Math.max(0, ...[...lifecycles, ...crowds].map((one) => one.name.length));
  for (const { name, version, states, edges } of lifecycles) {
    const events = new Set(edges.map((edge) => edge.event)).size;
    const size = `version ${version}, ${states.size} states, ${events} events`;
    terminal.print(`${green("✓")} ${pad(bold(name), widest)}  ${dim(size)}`);
  }
  for (const { name, marketplace, submissions } of crowds) {
    const each = submissions === 1 ? "1 submission" : `${submissions} submissions`;
    terminal.print(`${green("✓")} ${pad(bold(name), widest)}  ${dim(`crowd on ${marketplace}, ${each} per job`)}`);
  }
  if (lifecycles.length + crowds.length === 0) terminal.note("The config lists no lifecycle.");
}

function printWarning(terminal: Terminal, warning: Fault & { readonly definition: string }): void {
  const { yellow, bold, dim } = terminal.paint;
  terminal.print(`\n${yellow("!")} ${bold(warning.definition)}`);
  terminal.print(`\n    ${warning.place}\n    ${warning.problem}\n    ${dim(warning.remedy)}`);
}

async function printDiagrams(terminal: Terminal, lifecycles: readonly AnyLifecycle[]): Promise<void> {
  const { diagram } = await import("../../../definition/diagram.ts");
  for (const one of lifecycles) terminal.print(`\n%% ${one.name}\n${diagram(one).trimEnd()}`);
}

/** Such as `lifecycle "essay"`, from the head of the message. */
function titleOf(broken: PawlError): string {
  return /^The (.+?) has \d+ faults?:/.exec(broken.message)?.[1] ?? "definition";
}

function faultsOf(broken: PawlError): object[] {
  return (broken.details.faults as Fault[]).map((fault) => ({ definition: titleOf(broken), ...fault }));
}

function printBroken(terminal: Terminal, broken: PawlError): void {
  const { red, bold, dim } = terminal.paint;
  const faults = broken.details.faults as Fault[];
  terminal.print(
    `${red("✗")} ${bold(titleOf(broken))}  ${dim(faults.length === 1 ? "1 fault" : `${faults.length} faults`)}`,
  );
  for (const { place, problem, remedy } of faults) terminal.print(`\n    ${place}\n    ${problem}\n    ${dim(remedy)}`);
  terminal.print("");
}
