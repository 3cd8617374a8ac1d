import { isPawlError, type PawlError } from "../../base/errors.ts";

type Added = { readonly created: boolean };

/**
 * Adds a batch in which some samples may be refused, for example because of an invalid gold label: those are reported
 * by their index, and all others are added. A list is refused at its first invalid item with nothing written, so all
 * items before it are known to be valid.
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

/** The fault of a sample, without the text about its list. */
export function problemOf(error: PawlError): { readonly problem: string; readonly remedy: string } {
  const problem = error.message
    .replace(/^Item \d+ of the list: /, "")
    .replace(/ Nothing of the list was written\.$/, "");
  return { problem, remedy: "Correct it and import it again." };
}
