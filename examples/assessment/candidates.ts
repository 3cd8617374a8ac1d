import { chance } from "../chance.ts";

/** Who takes part in a simulation. */
export interface Candidate {
  readonly name: string;
  /** Whether everything was submitted. */
  readonly finished: boolean;
  readonly answers: readonly { readonly question: string; readonly code: string }[];
  /** The browser disconnects instead of completing the attempt. */
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

/** Three candidates with bad luck for any seed. */
const runaway = 7; // The code checker dies over one answer, each time.
const heavy = 13; // It dies four times, which is more often than a solve may run before it is reset.
const unfinished = 19; // The browser disconnects before everything was submitted.
const oftenCutOff = 25; // One candidate of this many is cut off.

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
