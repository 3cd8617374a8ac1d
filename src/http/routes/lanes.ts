import type { Route } from "../api/route.ts";
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
import type { LaneAnswer, WorkerAnswer } from "../contract.ts";
import { cause } from "./arguments.ts";

const tag = "Workers";

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

export const workRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/lanes",
    verb: "lanes",
    may: "look",
    tag,
    summary: "The lanes in which work waits: how much there is in each, and what holds it back.",
    takes: { internal: about(flag, "Also the empty ones of Pawl's own lifecycles.") },
    answers: listOf(lane),
  },
  {
    method: "post",
    path: "/lanes/{lane}/pause",
    verb: "pause",
    may: "operate",
    tag,
    summary: "Let nothing more be claimed from a lane: `lifecycle`, `lifecycle/state` or `lifecycle:after`.",
    takes: cause,
    needs: ["reason"],
    answers: nothing,
  },
  {
    method: "post",
    path: "/lanes/{lane}/resume",
    verb: "resume",
    may: "operate",
    tag,
    summary: "Let work go on; tells whether it was paused.",
    takes: cause,
    answers: flag,
  },
  {
    method: "get",
    path: "/workers",
    verb: "workers",
    may: "look",
    tag,
    summary: "The workers of all processes, as they were at their last sign of life.",
    answers: listOf(worker),
  },
];
