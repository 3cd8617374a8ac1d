import type { CrowdJobResponse } from "../../../http/contract.ts";
import type { Reached } from "../../transport/reach.ts";

/** How a command line names a crowd job. */
export const jobMeant = "its id, or its crowd and key: receipts/r-42";

/** The job of a command. Ids and names of crowds contain no slash. */
export function jobNamed(pawl: Reached, text: string): Promise<CrowdJobResponse> {
  const slash = text.indexOf("/");
  const which = slash === -1 ? { id: text } : { crowd: text.slice(0, slash), key: text.slice(slash + 1) };
  return pawl.call("crowdJob", which);
}

export async function jobId(pawl: Reached, text: string): Promise<string> {
  return text.includes("/") ? (await jobNamed(pawl, text)).id : text;
}
