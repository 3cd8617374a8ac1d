import type { Route } from "./route.ts";
import { anything, flag, listOf, nothing } from "./schema.ts";
import { cause } from "./taken.ts";

const tag = "Workers";

export const workRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/lanes",
    verb: "lanes",
    may: "look",
    tag,
    summary: "The lanes in which work waits: how much there is in each, and what holds it back.",
    answers: listOf(anything),
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
    answers: listOf(anything),
  },
];
