import { chance } from "../chance.ts";

/** Who takes part in a simulation. */
export interface Candidate {
  readonly name: string;
  /** Whether everything was handed in. */
  readonly finished: boolean;
  readonly answers: readonly { readonly question: string; readonly code: string }[];
  /** The browser goes away instead of saying that the attempt is complete. */
  readonly isCutOff: boolean;
  /** When the candidate is through, as a share of the time that there is. */
  readonly doneAt: number;
}

const names = [
  "ada",
  "alan",
  "barbara",
  "dennis",
  "edsger",
  "frances",
  "grace",
  "ken",
  "leslie",
  "margaret",
  "niklaus",
];
const questions = ["two-sum", "knapsack", "word-ladder"];

/** Three candidates are out of luck whatever the seed; who they are. */
const runaway = 7; // The code checker dies over one answer, each time.
const heavy = 13; // It dies four times, which is more often than a solve may run before it is reset.
const unfinished = 19; // The browser goes away before everything was handed in.
const oftenCutOff = 25; // Of so many candidates one is cut off.

export function candidatesOf(count: number): Candidate[] {
  return Array.from({ length: count }, (_, index) => {
    const place = index + 1;
    const name = `${names[index % names.length]}-${String(place).padStart(3, "0")}`;
    return {
      name,
      finished: place !== unfinished,
      answers: questions.map((question, at) => ({ question, code: codeOf(name, question, at === 0 ? place : 0) })),
      isCutOff: place === unfinished || place % oftenCutOff === 0,
      doneAt: chance("done", name),
    };
  });
}

function codeOf(name: string, question: string, place: number): string {
  const body = place === runaway ? "exhaust(Infinity)" : place === heavy ? "exhaust(4)" : `"${name}"`;
  return `export function solve(input) {\n  return ${body}; // ${question}\n}`;
}
