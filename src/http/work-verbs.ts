import { PawlError } from "../base/errors.ts";
import type { AnyLifecycle } from "../definition/face.ts";
import { readLane } from "../definition/model.ts";
import type { LanesOptions } from "../given.ts";
import type { Pawl } from "../pawl.ts";
import { causeOf, lifecycleNamed, type Verb } from "./named.ts";
import type { Arguments } from "./request.ts";

const cause = ["actor", "reason"];

/** The verbs about work and who does it. */
export const workVerbs: readonly (readonly [string, Verb])[] = [
  ["lanes", { takes: [], answer: (pawl) => pawl.lanes() }],
  ["pause", { takes: ["lane", ...cause], answer: pause }],
  ["resume", { takes: ["lane", ...cause], answer: resume }],
];

function pause(pawl: Pawl, args: Arguments): Promise<void> {
  const [lifecycle, lanes] = lanesMeant(pawl, args);
  return pawl.pause(lifecycle, { ...lanes, ...causeOf(args), reason: args.text("reason") });
}

function resume(pawl: Pawl, args: Arguments): Promise<boolean> {
  const [lifecycle, lanes] = lanesMeant(pawl, args);
  return pawl.resume(lifecycle, { ...lanes, ...causeOf(args) });
}

/** `essay`, `essay/grading` or `essay:after`. A version may be named, as in a list of lanes, and makes no difference. */
function lanesMeant(pawl: Pawl, args: Arguments): [AnyLifecycle, LanesOptions<AnyLifecycle>] {
  const name = args.text("lane");
  const read = readLane(name);
  if (read === undefined) {
    throw new PawlError(
      "option_invalid",
      `"${name.slice(0, 200)}" names no lane. Write lifecycle, lifecycle/state or lifecycle:after.`,
    );
  }
  const lifecycle = lifecycleNamed(pawl, read.lifecycle);
  if (read.part === "") return [lifecycle, {}];
  return [lifecycle, read.part === ":after" ? { effects: true } : { state: read.part.slice(1) }];
}
