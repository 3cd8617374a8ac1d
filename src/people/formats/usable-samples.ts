import { isPawlError, type PawlError } from "../../base/errors.ts";

type Added = { readonly created: boolean };

/**
 * Adds a batch in which some samples may be refused, such as by a gold label that its queue does not take: those are reported
 * by their place in the batch, and all others are added. A list is refused at its first bad item with nothing written, so what
 * comes before that item is known to be good.
 */
export async function addUsable<Sample>(
  batch: readonly Sample[],
  add: (samples: readonly Sample[]) => Promise<readonly Added[]>,
  refuse: (index: number, error: PawlError) => void,
): Promise<readonly Added[]> {
  const added: Added[] = [];
  for (let first = 0; first < batch.length; ) {
    const rest = batch.slice(first);
    try {
      added.push(...(await add(rest)));
      return added;
    } catch (error) {
      const index = isPawlError(error) ? error.details.index : undefined;
      if (typeof index !== "number") throw error;
      if (index > 0) added.push(...(await add(rest.slice(0, index))));
      refuse(first + index, error as PawlError);
      first += index + 1;
    }
  }
  return added;
}

/** What is wrong with a sample, without what was said about the list that it was part of. */
export function problemOf(error: PawlError): { readonly problem: string; readonly remedy: string } {
  const problem = error.message
    .replace(/^Item \d+ of the list: /, "")
    .replace(/ Nothing of the list was written\.$/, "");
  return { problem, remedy: "Correct it and import it again." };
}
