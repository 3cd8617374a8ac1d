import picocolors from "picocolors";
import { aligned } from "../terminal.ts";
import type { Result } from "./simulation.ts";

const { bold, dim, green, red, yellow } = picocolors;

/** The result of a simulation. */
export function reportOf(result: Result): string {
  const parts = [skillsPart(result), failedPart(result), graderPart(result), checkPart(result)];
  return [...parts.filter((part) => part.length > 0).flatMap((part) => ["", ...part]), ""].join("\n");
}

function skillsPart({ submissions, bySkill }: Result): string[] {
  const rows = bySkill.map(({ skill, handedIn, graded, late, accepted }) =>
    [skill, handedIn, graded, handedIn - graded, late, accepted].map(String),
  );
  const lines = aligned([["", "handed in", "graded", "failed", "late results", "accepted"], ...rows]);
  return [`  ${bold(`${submissions} submissions`)}`, ...lines.map((line, at) => (at === 0 ? dim(line) : line))];
}

function failedPart({ failed, deadMessages }: Result): string[] {
  const reasons = [...failed].map(([reason, count]) => `  ${yellow(`${count} failed`)}: ${reason}.`);
  const dead = deadMessages.map(
    ({ reason, count }) => `  ${yellow(`${count} dead letters`)}: callbacks that nobody can use (${reason}).`,
  );
  return [...reasons, ...dead];
}

function graderPart({ requests, recoveries, deeds, kills, heldWhenKilled, duplicates }: Result): string[] {
  const rows: [string, number, string][] = [
    ["requests to the grader", requests, recoveries === 0 ? "" : `${recoveries} of them after it had failed`],
    [
      "taken by it",
      deeds.get("took") ?? 0,
      kills === 0 ? "" : `it was killed with ${heldWhenKilled} open requests, which came again`,
    ],
    ["answered", deeds.get("answered") ?? 0, ""],
    ["said that it cannot", deeds.get("failed") ?? 0, ""],
    ["answered nonsense", deeds.get("garbled") ?? 0, ""],
    ["told to wait by its model", deeds.get("was told to wait") ?? 0, ""],
    ["callbacks that came again", duplicates, duplicates === 0 ? "" : "and changed nothing"],
  ];
  const lines = aligned(rows.map(([name, figure]) => [name, String(figure)]));
  return lines.map((line, at) => `${line}  ${dim(rows[at]![2])}`.trimEnd());
}

function checkPart({ gradedTwice, lost, violations, submissions }: Result): string[] {
  const wrongs = [
    ...gradedTwice.map((key) => `${key} was graded twice.`),
    ...lost.map((what) => `${what}.`),
    ...violations.map(({ message }) => message),
  ];
  if (wrongs.length > 0) return wrongs.map((wrong) => `  ${red("✗")} ${wrong}`);
  return [
    `  ${green("✓")} Of ${submissions} submissions none is lost and none was graded twice; all that is stored is verified.`,
  ];
}
