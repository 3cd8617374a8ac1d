import { execFileSync } from "node:child_process";
import { cpus, totalmem } from "node:os";
import type { Answer } from "./harness.ts";
import { versionOf } from "./install.ts";
import type { System } from "./systems.ts";
import type { Measured } from "./workloads.ts";

export interface Facts {
  readonly node: string;
  readonly postgres: string;
  readonly redis: string | undefined;
  readonly count: number;
  readonly rounds: number;
  readonly command: string;
}

type Answers = ReadonlyMap<string, readonly Answer[]>;

export function report(
  systems: readonly System[],
  workloads: readonly Measured[],
  answers: Answers,
  facts: Facts,
): string {
  const sections = workloads.map((workload) => section(workload, systems, answers));
  return `${[head(facts), ...sections, losses(systems, workloads, answers), settings(systems)].join("\n\n")}\n`;
}

function head({ node, postgres, redis, count, rounds, command }: Facts): string {
  const processor = cpus()[0]?.model.trim() || "unknown";
  const memory = Math.round(totalmem() / 2 ** 30);
  const nodeVersion = execFileSync(node, ["--version"]).toString().trim();
  return `# Results

Made by \`${command}\` on ${new Date().toISOString().slice(0, 10)}; repeat it on your machine. Each
number is the median of ${rounds} ${rounds === 1 ? "round" : "rounds"} with ${count.toLocaleString("en")} items, each round in a fresh database and a fresh process, one system at a
time. A quarter as many come first and are not timed, so that processes are warm, as those of a worker are all day.
Throughput runs are checked: all items stored, as many runs of handlers as there are steps, nothing left. What an item took
is an average over the timed part: the processor's time of the process and of the server, and what PostgreSQL wrote ahead,
full-page images included; memory is the most that the process had.

![The results as bars](chart.svg)

${cpus().length} cores (${processor}), ${memory} GiB, PostgreSQL ${postgres} with fsync on${redis === undefined ? "" : `, Redis ${redis}`}, Node ${nodeVersion} for all. Client, worker and
server share the cores.`;
}

function section(workload: Measured, systems: readonly System[], answers: Answers): string {
  const isLatency = workload.unit === "milliseconds";
  const titles = isLatency
    ? "| | p50, ms | p99, ms | p50 to Pawl's |"
    : `| | ${workload.unit} | Pawl is | lowest to highest | process, µs | server, µs | WAL, bytes | memory, MB |`;
  const own = middle(answersOf(answers, workload, "pawl"));
  const asked = systems.filter(({ only }) => only?.includes(workload.name) !== false);
  const rows = asked.map((system) => {
    const list = answersOf(answers, workload, system.name);
    const answer = middle(list);
    const failed = list.find(({ error }) => error !== undefined)?.error;
    const empty = " |".repeat(isLatency ? 2 : 6);
    if (answer === undefined) return `| ${system.name} | ${clean(failed ?? "not run")} |${empty}`;
    const note = failed === undefined ? "" : ` (a round failed: ${clean(failed)})`;
    const cells = isLatency ? latencyCells(answer, own) : rateCells(answer, own, list);
    return `| ${system.name}${note} | ${cells.join(" | ")} |`;
  });
  const lines = `|---|${"---:|".repeat(isLatency ? 3 : 7)}`;
  return [`## ${workload.title}`, "", workload.about, "", titles, lines, ...rows].join("\n");
}

function latencyCells(answer: Answer, own: Answer | undefined): string[] {
  const ratio = own === undefined ? "" : times(answer.p50! / own.p50!);
  return [answer.p50!.toFixed(1), answer.p99!.toFixed(1), ratio];
}

function rateCells(answer: Answer, own: Answer | undefined, list: readonly Answer[]): string[] {
  const rates = list.flatMap(({ rate }) => rate ?? []);
  const span = `${whole(Math.min(...rates))} to ${whole(Math.max(...rates))}`;
  const ratio = own === undefined ? "" : times(own.rate! / answer.rate!);
  const { processUs, serverUs, walBytes, memoryMb } = answer.cost ?? {};
  const costs = [processUs, serverUs, walBytes, memoryMb].map((cost) => (cost === undefined ? "" : whole(cost)));
  return [whole(answer.rate!), ratio, span, ...costs];
}

/** Where somebody is better than Pawl, said in words so that nobody has to look for it. */
function losses(systems: readonly System[], workloads: readonly Measured[], answers: Answers): string {
  const lines = workloads.flatMap((workload) => {
    const own = middle(answersOf(answers, workload, "pawl"));
    if (own === undefined) return [];
    return systems.flatMap(({ name }) => {
      const other = middle(answersOf(answers, workload, name));
      if (name === "pawl" || other === undefined) return [];
      const share = own.rate === undefined ? own.p50! / other.p50! : other.rate! / own.rate;
      const better = own.rate === undefined ? "as long to start a job" : "as much";
      if (share <= 1) return [];
      const who =
        own.rate === undefined
          ? `Pawl takes ${times(share)} ${better} as ${name}`
          : `${name} does ${times(share)} ${better}`;
      return [`- ${workload.title}: ${who}.`];
    });
  });
  if (!systems.some(({ name }) => name === "pawl")) return "## Where Pawl loses\n\nPawl was not run.";
  return `## Where Pawl loses\n\n${lines.length === 0 ? "Nowhere in this run." : lines.join("\n")}`;
}

function settings(systems: readonly System[]): string {
  const lines = systems.map((system) => {
    const version = system.package === undefined ? "" : ` ${versionOf(system.package) ?? "(not installed)"}`;
    return `- **${system.name}**${version}: ${system.settings}.`;
  });
  return `## Settings\n\nOne process each, with settings that we chose from its documentation for speed; no search for better ones was made.\n\n${lines.join("\n")}`;
}

export function answersOf(answers: Answers, workload: Measured, system: string): readonly Answer[] {
  return answers.get(`${workload.name} ${system}`) ?? [];
}

/** The answer in the middle of those that are none of an error. */
export function middle(list: readonly Answer[]): Answer | undefined {
  const measure = (answer: Answer): number => answer.rate ?? answer.p50!;
  const good = list.filter(({ error }) => error === undefined).sort((one, other) => measure(one) - measure(other));
  return good[Math.floor(good.length / 2)];
}

function whole(number: number): string {
  return Math.round(number).toLocaleString("en");
}

function times(ratio: number): string {
  return `${ratio.toFixed(ratio < 10 ? 2 : 0)} ×`;
}

function clean(text: string): string {
  return text.replaceAll("|", "/").replaceAll("\n", " ").slice(0, 200);
}
