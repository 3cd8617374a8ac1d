import { readFileSync } from "node:fs";

/** The version of this Pawl. */
export const pawlVersion: string = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
).version;
