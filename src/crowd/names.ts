import type { AnyCrowd } from "../definition/crowd.ts";

/** The lifecycle of the jobs of a crowd. */
export function jobName({ name }: Pick<AnyCrowd, "name">): string {
  return `pawl_crowd_${name}`;
}

/** The marketplace that needs no configuring: Pawl's own people. */
export const ownPeople = "people";
