import { formatDuration } from "../../base/duration.ts";
import type { FailureRoute } from "./check-recoveries.ts";
import type { Budget } from "./check-times.ts";
import type { EventMatrix, MatrixCell } from "./event-matrix.ts";
import type { Exploration, ExploredState } from "./exploration.ts";

/** An exploration as text: the findings, the states, and which event is accepted where. */
export function explorationText(one: Omit<Exploration, "text">): string {
  const { lifecycle, version, findings } = one;
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const counts = `${counted(errors, "error")}, ${counted(findings.length - errors, "warning")}`;
  return [
    `${lifecycle}@${version}: ${counted(one.states.length, "state")}, ${counted(one.matrix.events.length, "event")}, ${counts}`,
    ...findings.flatMap(({ severity, code, message, remedy }) => [
      "",
      `${severity} ${code}`,
      `  ${message}`,
      `  ${remedy}`,
    ]),
    "",
    ...table([["state", "left by", "after a failure", "budget"], ...one.states.map(stateRow)]),
    "",
    ...matrixLines(one.matrix),
    "",
  ].join("\n");
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function stateRow(state: ExploredState): string[] {
  const { name, kind, movedBy, failure, budget } = state;
  return [
    `${name} (${kind})`,
    movedBy.length === 0 ? "-" : movedBy.join(", "),
    failureText(failure),
    budgetText(budget),
  ];
}

function failureText(failure: FailureRoute): string {
  if (failure.kind === "none") return "-";
  if (failure.kind === "person") return "a person";
  return `${formatDuration(failure.afterMs)} → ${failure.states.join(" → ")}`;
}

function budgetText(budget: Budget | null): string {
  if (budget === null) return "-";
  const pauses = budget.pausesMs === 0 ? "" : `, ${roundedDuration(budget.pausesMs)}`;
  return `${counted(budget.attempts, "attempt")}${pauses}`;
}

/** Jitter makes odd numbers, which are rounded. */
function roundedDuration(ms: number): string {
  return formatDuration(ms < 60_000 ? Math.ceil(ms / 1_000) * 1_000 : Math.ceil(ms / 60_000) * 60_000);
}

/** A terminal shows this much side by side. */
const widest = 120;

function matrixLines({ states, events, cells }: EventMatrix): string[] {
  const rows = states.map((state) => [state, ...events.map((event) => cellText(cells[state]![event]!))]);
  const lines = table([["state \\ event", ...events], ...rows]);
  if (lines.every((line) => line.length <= widest)) return lines;
  return table([
    ["state", "event", ""],
    ...states.flatMap((state) =>
      events.flatMap((event) => {
        const cell = cellText(cells[state]![event]!);
        return cell === refused ? [] : [[state, event, cell]];
      }),
    ),
  ]);
}

const refused = ".";

function cellText(cell: MatrixCell): string {
  switch (cell.kind) {
    case "moves":
      return `${cell.to.join(" | ")}${cell.isGuarded ? " ?" : ""}`;
    case "stays":
      return `stays${cell.isGuarded ? " ?" : ""}`;
    case "forgotten":
      return "FORGOTTEN";
    default:
      return refused;
  }
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
}
