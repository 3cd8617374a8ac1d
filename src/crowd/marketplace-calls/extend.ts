import { createHash } from "node:crypto";
import type { Step } from "../../definition/language/step.ts";
import type { CrowdLifecycles } from "../crowd-lifecycles.ts";
import type { JobData, Remote } from "../data.ts";
import { CannotExtend, type Extension } from "../marketplace.ts";
import { post } from "./publish.ts";

/**
 * Adds places or time to the newest posting of a job. The marketplace returns the number of places, so counts cannot
 * drift. If a posting can never have that many, another one is published, which excludes workers who have submitted
 * before.
 */
export function extendJob(family: CrowdLifecycles) {
  return async (step: Step<JobData, { extended: undefined }>) => {
    const { remotes, extensions, aim } = step.data;
    const { places, until } = aim!;
    const newest = remotes.at(-1)!;
    const notifier = remotes.slice(0, -1);
    const total = places === null ? newest.places : places - placesOf(notifier);
    const token = tokenOf(newest.id, total, until);
    const extension = { token, places: total, until: until === null ? null : new Date(until) };
    const extended = await extend(family, step, newest, extension);
    step.set({ remotes: [...notifier, ...extended], extensions: until === null ? extensions : extensions + 1 });
    return step.go("extended");
  };
}

export function placesOf(remotes: readonly Remote[]): number {
  return remotes.reduce((sum, { places }) => sum + places, 0);
}

async function extend(
  family: CrowdLifecycles,
  step: Step<JobData, { extended: undefined }>,
  newest: Remote,
  extension: Extension,
): Promise<Remote[]> {
  try {
    const { id, places } = await family.marketplace.extend(newest.id, extension, step);
    return [{ id, places }];
  } catch (error) {
    if (!(error instanceof CannotExtend)) throw error;
    const { content } = step.data;
    const places = extension.places - newest.places;
    const excludes = [...new Set((await step.children(family.submission)).map((child) => child.data.worker))];
    const extra = await post(family, step, { content, places, excludes });
    return [newest, { id: extra.id, places: extra.places }];
  }
}

/** The same aim has the same token, in every process and attempt. */
function tokenOf(job: string, places: number, until: string | null): string {
  return createHash("sha256").update(`${job} ${places} ${until}`).digest("hex").slice(0, 48);
}
