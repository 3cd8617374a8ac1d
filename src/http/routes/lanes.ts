import type { LanesOptions } from "../../api/arguments/options.ts";
import type { Pawl } from "../../api/pawl.ts";
import { PawlError } from "../../base/errors.ts";
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
import type { LaneAnswer, WorkerAnswer } from "../contract.ts";

const lane = named(
  "Lane",
  shape<LaneAnswer>({
    lane: about(text, "As in `essay@1/grading`, or `essay@1:after`."),
    lifecycle: text,
    version: whole,
    state: about(orNull(text), "Null for after-effects and for letters."),
    ready: whole,
    scheduled: whole,
    running: whole,
    oldestMs: about(orNull(number), "How long the one that has waited longest has been ready."),
    limit: orNull(whole),
    rate: orNull(text),
    closed: orNull(
      shape<NonNullable<LaneAnswer["closed"]>>({
        by: oneOf("pause", "breaker"),
        since: moment,
        reason: text,
        actor: orNull(text),
      }),
    ),
  }),
);

const worker = named(
  "Worker",
  shape<WorkerAnswer>({
    id: about(text, "New at each start."),
    host: text,
    pid: whole,
    pawl: about(text, "The version of Pawl that it runs."),
    startedAt: moment,
    heartbeatAt: moment,
    silent: about(flag, "It has given no sign of life for fifteen seconds."),
    stopping: flag,
    state: text,
    slots: about(mapOf(whole), "How many of its slots are in each of their states."),
    concurrency: whole,
    stuck: about(whole, "How many steps go on though their signal was aborted a while ago."),
    tasks: about(mapOf(whole), "How many tasks of which lanes it has in hand."),
    lanes: listOf(text),
  }),
);

const { get, post } = routesOf("Workers");

export const laneRoutes = [
  get("lanes", "/lanes", "look", {
    summary: "The lanes in which work waits: how much there is in each, and what holds it back.",
    takes: { internal: about(flag, "Also the empty ones of Pawl's own lifecycles.") },
    answer: listOf(lane),
    call: (pawl, { internal }) => pawl.lanes.list({ internal }),
  }),
  post("pause", "/lanes/{lane}/pause", "operate", {
    summary: "Let nothing more be claimed from a lane: `lifecycle`, `lifecycle/state` or `lifecycle:after`.",
    takes: cause,
    needs: ["reason"],
    answer: nothing,
    call: (pawl, { lane: name, ...cause }) => pawl.lanes.pause(lifecycleIn(pawl, name), { ...lanesIn(name), ...cause }),
  }),
  post("resume", "/lanes/{lane}/resume", "operate", {
    summary: "Let work go on; tells whether it was paused.",
    takes: cause,
    answer: flag,
    call: (pawl, { lane: name, ...cause }) =>
      pawl.lanes.resume(lifecycleIn(pawl, name), { ...lanesIn(name), ...cause }),
  }),
  get("workers", "/workers", "look", {
    summary: "The workers of all processes, as they were at their last sign of life.",
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
    `"${name.slice(0, 200)}" names no lane. Write lifecycle, lifecycle/state or lifecycle:after.`,
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
      `What is sent to \`${lifecycle}\` waits when all of it is paused: write ${lifecycle}.`,
    );
  }
  return part === ":after" ? { effects: true } : { state: part.slice(1) };
}
