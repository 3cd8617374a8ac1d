import type { Json } from "../../base/json.ts";
import type { AnyCrowd } from "../../definition/crowd.ts";
import type { JobData } from "../data.ts";

/** The data of a crowd job that begins. */
export function newJob(crowd: AnyCrowd, content: Json): JobData {
  const nothingYet = { labels: [], consensus: null, agreement: null, approved: 0, rejected: 0, reason: null };
  const unpublished = { remotes: [], aim: null, extensions: 0, closing: false, again: false };
  return { crowd: crowd.name, content, ...unpublished, ...nothingYet };
}
