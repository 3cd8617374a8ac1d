import type { Duration } from "../base/duration.ts";
import { PawlError } from "../base/errors.ts";
import type { AnyJob } from "../definition/job.ts";
import type { AnyLifecycle } from "../definition/language/face.ts";
import { readLane } from "../definition/model.ts";
import type { JobsOptions, LanesOptions } from "../given.ts";
import type { Pawl } from "../pawl.ts";
import type { StartedInstance } from "../shown.ts";
import { causeOf, lifecycleNamed, refOf, type Verb } from "./named.ts";
import type { Arguments } from "./request.ts";

const cause = ["actor", "reason"];

/** The verbs about work and who does it. */
export const workVerbs: readonly (readonly [string, Verb])[] = [
  ["lanes", { takes: ["internal"], answer: (pawl, args) => pawl.lanes({ internal: args.flag("internal") }) }],
  ["pause", { takes: ["lane", ...cause], answer: pause }],
  ["resume", { takes: ["lane", ...cause], answer: resume }],
  ["workers", { takes: [], answer: (pawl) => pawl.workers() }],
  ["jobs", { takes: ["job", "status", "limit", "after"], answer: jobs }],
  ["job", { takes: ["job", "key", "id"], answer: (pawl, args) => pawl.jobStatus(jobOf(pawl, args), refOf(args)) }],
  ["enqueue", { takes: ["job", "payload", "key", "priority", "after", "at", ...cause], answer: enqueue }],
  ["breakers", { takes: [], answer: (pawl) => pawl.breakers() }],
  ["breakerFlips", { takes: ["breaker", "limit"], answer: breakerFlips }],
  ["forceBreaker", { takes: ["breaker", "to", ...cause], answer: forceBreaker }],
  ["releaseBreaker", { takes: ["breaker", ...cause], answer: releaseBreaker }],
];

function pause(pawl: Pawl, args: Arguments): Promise<void> {
  const [lifecycle, lanes] = lanesMeant(pawl, args);
  return pawl.pause(lifecycle, { ...lanes, ...causeOf(args), reason: args.text("reason") });
}

function resume(pawl: Pawl, args: Arguments): Promise<boolean> {
  const [lifecycle, lanes] = lanesMeant(pawl, args);
  return pawl.resume(lifecycle, { ...lanes, ...causeOf(args) });
}

function jobs(pawl: Pawl, args: Arguments): Promise<unknown> {
  const after = args.optionalText("after");
  return pawl.jobs({
    job: args.has("job") ? jobOf(pawl, args) : undefined,
    status: args.optionalText("status") as JobsOptions["status"],
    limit: args.number("limit"),
    after: after === undefined ? undefined : { id: after },
  });
}

function enqueue(pawl: Pawl, args: Arguments): Promise<StartedInstance> {
  return pawl.enqueue(jobOf(pawl, args), args.value("payload") ?? {}, {
    ...causeOf(args),
    key: args.optionalText("key"),
    priority: args.number("priority"),
    after: args.value("after") as Duration | undefined,
    at: args.moment("at"),
  });
}

/** What is no job is refused where it is used. */
function jobOf(pawl: Pawl, args: Arguments): AnyJob {
  return lifecycleNamed(pawl, args.text("job")) as AnyJob;
}

function breakerFlips(pawl: Pawl, args: Arguments): Promise<unknown> {
  return pawl.breakerFlips(args.text("breaker"), { limit: args.number("limit") });
}

function forceBreaker(pawl: Pawl, args: Arguments): Promise<unknown> {
  return pawl.forceBreaker(args.text("breaker"), args.text("to") as "open", causeOf(args));
}

/** Null counts as left out where JSON comes in, so letting go has a verb of its own. */
function releaseBreaker(pawl: Pawl, args: Arguments): Promise<unknown> {
  return pawl.forceBreaker(args.text("breaker"), null, causeOf(args));
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
  if (read.part === ":send") {
    throw new PawlError(
      "option_invalid",
      `What is sent to \`${lifecycle.name}\` waits when all of it is paused: write ${lifecycle.name}.`,
    );
  }
  return [lifecycle, read.part === ":after" ? { effects: true } : { state: read.part.slice(1) }];
}
