import type { Route } from "./route.ts";
import { anything, listOf, nothing } from "./schema.ts";
import { cause } from "./taken.ts";

const tag = "Schedules";

export const scheduleRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/schedules",
    verb: "schedules",
    may: "look",
    tag,
    summary: "The schedules that are declared or have been kept.",
    answers: listOf(anything),
  },
  {
    method: "post",
    path: "/schedules/{schedule}/pause",
    verb: "pauseSchedule",
    may: "operate",
    tag,
    summary: "Let a schedule start nothing more.",
    takes: cause,
    answers: nothing,
  },
  {
    method: "post",
    path: "/schedules/{schedule}/resume",
    verb: "resumeSchedule",
    may: "operate",
    tag,
    summary: "Let a schedule go on, with its next tick from now.",
    answers: nothing,
  },
  {
    method: "post",
    path: "/schedules/{schedule}/run",
    verb: "runScheduleNow",
    may: "operate",
    tag,
    summary: "Start at once what a schedule starts, beside its ticks.",
    answers: anything,
  },
];
