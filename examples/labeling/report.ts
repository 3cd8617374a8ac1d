import type { SampleState } from "pawl";
import picocolors from "picocolors";
import { aligned } from "../terminal.ts";
import type { QueueResult, Result } from "./simulation.ts";
import { tableOf } from "./table.ts";

const { bold, dim, green, red, yellow } = picocolors;

/** The result of a simulation. */
export function reportOf(result: Result): string {
  const parts = [
    ...result.queues.map(queuePart),
    ["  Who did what", ...peoplePart(result)],
    metricsPart(result),
    checkPart(result),
  ];
  return [...parts.flatMap((part) => ["", ...part]), ""].join("\n");
}

function queuePart({ queue, samples, labels, examples }: QueueResult): string[] {
  const count = (state: SampleState) => samples.filter((one) => one.state === state).length;
  const states = (["agreed", "exhausted", "unassignable", "closed", "open"] as const).filter(
    (state) => count(state) > 0,
  );
  const shown = states.map((state) => (state === "agreed" ? green : yellow)(`${count(state)} ${state}`));
  const asked = samples.filter((one) => one.needs > queue.overlap).length;
  const more = asked === 0 ? "" : dim(`  For ${asked} more than ${queue.overlap} were asked, since labels differed.`);
  const reasons = samples
    .filter(({ state }) => state !== "agreed")
    .map(({ key, state, reason }) => [key, state, reason]);
  return [
    `  ${bold(`${samples.length} ${queue.name}`)}: ${shown.join(", ")}.${more}`,
    ...tableOf(queue, labels, examples)
      .split("\n")
      .map((line) => `  ${line}`),
    ...reasons.map(
      ([key, state, reason]) =>
        `    ${yellow(String(key))}  ${state}: ${reason ?? "some could still label it, and nobody did."}`,
    ),
  ];
}

function peoplePart({ people, lateAccepted }: Result): string[] {
  const rows = people.map(({ name, tally }) => [
    name,
    ...[tally.labels, tally.skipped, tally.left, tally.late, tally.refused].map(String),
  ]);
  const lines = aligned([["", "labels", "skipped", "not in time", "late labels", "refused"], ...rows]);
  const late = people.reduce((sum, { tally }) => sum + tally.late, 0);
  const said = late === 0 ? "" : `  Of ${late} late labels a lead could use ${lateAccepted}; the others are kept.`;
  return [...lines.map((line, at) => (at === 0 ? dim(line) : line)), ...(said === "" ? [] : [said])];
}

function metricsPart({ queues }: Result): string[] {
  const percent = (share: number | null) => (share === null ? "–" : `${Math.round(share * 100)} %`);
  const rows = queues.map(({ queue, metrics }) => [
    queue.name,
    String(metrics.total),
    percent(metrics.completionRate),
    percent(metrics.expireRate),
    percent(metrics.skipRate),
    metrics.avgTimeToComplete === null ? "–" : `${metrics.avgTimeToComplete.toFixed(2)} s`,
    percent(metrics.gold.accuracy),
  ]);
  const lines = aligned([
    ["", "assignments", "completed", "expired", "skipped", "time to label", "right on gold"],
    ...rows,
  ]);
  return lines.map((line, at) => (at === 0 ? dim(line) : line));
}

function checkPart({ queues, violations }: Result): string[] {
  const overshot = queues.flatMap((one) => one.overshot.map((key) => `${one.queue.name} ${key}`));
  const labels = queues.reduce((sum, one) => sum + one.labels.length, 0);
  if (overshot.length === 0 && violations.length === 0) {
    return [
      `  ${green("✓")} ${labels} labels: none too many, none by one person twice; all that is stored is verified.`,
    ];
  }
  return [
    ...overshot.map((key) => `  ${red("✗")} ${key} has a number of labels that it should not have.`),
    ...violations.map(({ message }) => `  ${red("✗")} ${message}`),
  ];
}
