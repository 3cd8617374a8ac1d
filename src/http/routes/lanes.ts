import type { LanesOptions } from "../../api/arguments/options.ts";
import type { Pawl } from "../../api/pawl.ts";
import { PawlError } from "../../base/errors.ts";
import type { Rate } from "../../definition/language/definition-types.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import { readLane } from "../../definition/model.ts";
import { routesOf } from "../api/route.ts";
import {
  about,
  flag,
  listOf,
  mapOf,
  moment,
  named,
  nothing,
  number,
  oneOf,
  orNull,
  shape,
  text,
  whole,
} from "../api/schema.ts";
import { lifecycleNamed } from "../api/targets.ts";
import { cause } from "../api/usual-arguments.ts";
import type { LaneLimitsResponse, LaneResponse, WorkerResponse } from "../contract.ts";

const lane = named(
  "Lane",
  shape<LaneResponse>({
    lane: about(text, "Such as `essay@1/grading` or `essay@1:after`."),
    lifecycle: text,
    version: whole,
    state: about(orNull(text), "Null for `after` functions and for deliveries."),
    ready: whole,
    scheduled: whole,
    running: whole,
    oldestMs: about(orNull(number), "How long the oldest ready task has waited."),
    limit: orNull(whole),
    rate: orNull(text),
    each: about(
      orNull(shape<NonNullable<LaneResponse["each"]>>({ limit: orNull(whole), rate: orNull(text) })),
      "The limit and rate of each key; null where tasks have no keys.",
    ),
    limitsChanged: about(
      orNull(
        shape<NonNullable<LaneResponse["limitsChanged"]>>({ at: moment, actor: orNull(text), reason: orNull(text) }),
      ),
      "The last change of its limits; null while they are as defined.",
    ),
    closed: orNull(
      shape<NonNullable<LaneResponse["closed"]>>({
        by: oneOf("pause", "breaker"),
        since: moment,
        reason: text,
        actor: orNull(text),
      }),
    ),
  }),
);

const limitNames = ["limit", "limitEach", "rate", "rateEach"] as const;

const limits = named(
  "LaneLimits",
  shape<LaneLimitsResponse>({
    limit: orNull(whole),
    limitEach: orNull(whole),
    rate: orNull(text),
    rateEach: orNull(text),
  }),
);

const worker = named(
  "Worker",
  shape<WorkerResponse>({
    id: about(text, "A new id at each start."),
    host: text,
    pid: whole,
    pawl: about(text, "Its version of Pawl."),
    startedAt: moment,
    heartbeatAt: moment,
    silent: about(flag, "Its last heartbeat is more than 15 seconds old."),
    stopping: flag,
    state: text,
    slots: about(mapOf(whole), "Counts of its slots by state."),
    concurrency: whole,
    stuck: about(whole, "The number of steps that still run although their signal was aborted."),
    tasks: about(mapOf(whole), "Counts of its claimed tasks by lane."),
    lanes: listOf(text),
  }),
);

const { get, post } = routesOf("Workers");

export const laneRoutes = [
  get("lanes", "/lanes", "read", {
    summary: "List lanes with their backlog, limits and pauses.",
    takes: { internal: about(flag, "Include empty lanes of Pawl's internal lifecycles.") },
    answer: listOf(lane),
    call: (pawl, { internal }) => pawl.lanes.list({ internal }),
  }),
  post("pause", "/lanes/{lane}/pause", "operate", {
    summary: "Pause a lane: `lifecycle`, `lifecycle/state` or `lifecycle:after`. Running steps finish.",
    takes: cause,
    needs: ["reason"],
    answer: nothing,
    call: (pawl, { lane: name, ...cause }) => pawl.lanes.pause(lifecycleIn(pawl, name), { ...lanesIn(name), ...cause }),
  }),
  post("resume", "/lanes/{lane}/resume", "operate", {
    summary: "Resume a lane; returns whether it was paused.",
    takes: cause,
    answer: flag,
    call: (pawl, { lane: name, ...cause }) =>
      pawl.lanes.resume(lifecycleIn(pawl, name), { ...lanesIn(name), ...cause }),
  }),
  post("putLimit", "/lanes/{lane}/limits", "operate", {
    summary: "Change limits and rates of a state: `lifecycle/state`, or the name of a job.",
    takes: {
      limit: about(whole, "How many may run at a time."),
      limitEach: about(whole, "How many of each key may run at a time."),
      rate: about(text, "How many may begin in a time, such as `100/m`."),
      rateEach: about(text, "How many of each key may begin in a time."),
      defaults: about(listOf(oneOf(...limitNames)), "Those to take back to the definition."),
      ...cause,
    },
    answer: limits,
    call: (pawl, { lane: name, limit, limitEach, rate, rateEach, defaults = [], ...cause }) => {
      const or = (limitName: (typeof limitNames)[number]) => (defaults.includes(limitName) ? null : undefined);
      return pawl.lanes.putLimit(lifecycleIn(pawl, name), {
        state: lanesIn(name).state,
        limit: { total: limit ?? or("limit"), each: limitEach ?? or("limitEach") },
        rate: {
          total: (rate as Rate | undefined) ?? or("rate"),
          each: (rateEach as Rate | undefined) ?? or("rateEach"),
        },
        ...cause,
      });
    },
  }),
  get("workers", "/workers", "read", {
    summary: "List the workers of all processes, as of their last heartbeat.",
    answer: listOf(worker),
    call: (pawl) => pawl.workers.list(),
  }),
];

/** `essay`, `essay/grading` or `essay:after`. A version may be named, as in a list of lanes, and makes no difference. */
function laneNamed(name: string): { readonly lifecycle: string; readonly part: string } {
  const read = readLane(name);
  if (read !== undefined) return read;
  throw new PawlError(
    "option_invalid",
    `"${name.slice(0, 200)}" is not the name of a lane. Write lifecycle, lifecycle/state or lifecycle:after.`,
  );
}

function lifecycleIn(pawl: Pawl, lane: string): AnyLifecycle {
  return lifecycleNamed(pawl, laneNamed(lane).lifecycle);
}

function lanesIn(lane: string): LanesOptions<AnyLifecycle> {
  const { lifecycle, part } = laneNamed(lane);
  if (part === "") return {};
  if (part === ":send") {
    throw new PawlError(
      "option_invalid",
      `Deliveries to \`${lifecycle}\` have no lane to pause. Pause the whole lifecycle: ${lifecycle}.`,
    );
  }
  return part === ":after" ? { effects: true } : { state: part.slice(1) };
}
