import picocolors from "picocolors";
import { aligned } from "../terminal.ts";
import { faults } from "./services/trouble.ts";
import type { Result } from "./simulation.ts";

const heads = { refuses: "refused", hangs: "hung", crashes: "crashed" } as const;
const { bold, dim, green, red, yellow } = picocolors;

/** The result of a simulation, for a terminal of this width. */
export function reportOf(result: Result, columns: number): string {
  const parts = [verdictOf(result), servicesOf(result), figuresOf(result)].flatMap((part) => ["", ...part]);
  return [...parts, ...namedOf(result, Math.min(columns, 110)), ""].join("\n");
}

function verdictOf({ attempts, processed, explained, unsettled }: Result): string[] {
  const parts = [green(`${processed} processed`)];
  if (explained.length > 0) parts.push(yellow(`${explained.length} left to a person, and explained`));
  if (unsettled.length > 0) parts.push(red(`${unsettled.length} neither`));
  return [`  ${bold(`${attempts} attempts`)}: ${parts.join(", ")}.`];
}

function servicesOf({ services }: Result): string[] {
  const rows = [...services].map(([name, { requests, struck }]) => [
    name,
    String(requests),
    ...faults.map((fault) => String(struck[fault])),
  ]);
  return aligned([["", "calls", ...faults.map((fault) => heads[fault])], ...rows]).map((line, at) =>
    at === 0 ? dim(line) : line,
  );
}

function figuresOf(result: Result): string[] {
  const { services, failures, recoveries, alerts, scored, scoredTwice, moves, violations } = result;
  const struck = [...services.values()].flatMap((tally) => Object.values(tally.struck));
  const rows: [string, number, string][] = [
    ["faults injected", struck.reduce((sum, one) => sum + one, 0), ""],
    ["failures of attempts", failures, ""],
    ["recoveries", recoveries, ""],
    ["alerts", alerts, ""],
    ["answers scored", scored, scoredTwice === 0 ? "none twice" : `${scoredTwice} twice`],
    ["moves in the journal", moves, violations.length === 0 ? "verified" : `${violations.length} contradictions`],
  ];
  const lines = aligned(rows.map(([name, figure]) => [name, String(figure)]));
  return lines.map((line, at) => `${line}  ${dim(rows[at]![2])}`.trimEnd());
}

/** The failures: what, how often, and what a retry would do. */
function namedOf({ explained, unsettled }: Result, columns: number): string[] {
  const lines = explained.flatMap(({ key, sentences }) => {
    return ["", `  ${yellow(key)}`, ...wrapped(sentences.join(" "), columns - 4).map((line) => `    ${line}`)];
  });
  return [...lines, ...unsettled.flatMap(({ key, state }) => ["", `  ${red(key)}  still stands in ${state}.`])];
}

function wrapped(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1)!;
    if (line !== "" && line.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}
