import type { Pawl, Sample } from "pawl";
import { labelingQueues } from "./queues.ts";
import { type Example, loadMessages, loadPictures } from "./samples.ts";

/** The samples of both queues once, so that they can be labeled. */
export interface Round {
  readonly number: number;
  /** Whether it was begun before, by a run that was interrupted or by a person at the command line. */
  readonly isTakenUp: boolean;
}

/** What there is to label, by the name of its queue. */
export async function loadExamples(): Promise<ReadonlyMap<string, readonly Example[]>> {
  return new Map([
    ["messages", await loadMessages()],
    ["pictures", await loadPictures()],
  ]);
}

const most = 1_000;

/** Continues with open samples in the queues; if there are none, adds every sample to its queue once more. */
export async function openRound({ people }: Pick<Pawl, "people">): Promise<Round> {
  const names = Object.keys(labelingQueues());
  const newest = await Promise.all(names.map((name) => people.samples(name, { limit: most })));
  const number = Math.max(0, ...newest.map(([first]) => roundOf(first)));
  if (newest.flat().some((one) => one.state === "open" && roundOf(one) === number)) return { number, isTakenUp: true };
  for (const [name, examples] of await loadExamples()) {
    await people.addMany(
      name,
      examples.map((one) => ({
        key: `${number + 1}-${one.key}`,
        data: one.content,
        ...(one.isGold ? { gold: one.truth } : {}),
      })),
    );
  }
  return { number: number + 1, isTakenUp: false };
}

/** The samples of a queue that belong to a round. */
export async function samplesOf({ people }: Pick<Pawl, "people">, queue: string, round: number): Promise<Sample[]> {
  return (await people.samples(queue, { limit: most })).filter((one) => roundOf(one) === round);
}

/** The key that a sample has in its file. */
export function exampleKey(key: string | null): string {
  return key?.split("-")[1] ?? "";
}

export function roundOf(sample: { readonly key: string | null } | undefined): number {
  return Number(sample?.key?.split("-")[0]) || 0;
}
