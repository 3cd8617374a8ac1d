import type { Route } from "../api/route.ts";
import { about, id, listOf, moment, named, nothing, oneOf, orNull, shape, text } from "../api/schema.ts";
import type { ScheduleAnswer } from "../contract.ts";
import { cause } from "./arguments.ts";
import { started } from "./instance-answer.ts";

const tag = "Schedules";

const schedule = named(
  "Schedule",
  shape<ScheduleAnswer>({
    name: text,
    timing: about(text, "Such as `30 3 * * * Europe/Berlin` or `every 10m`."),
    starts: about(text, "The lifecycle or job that it starts."),
    status: oneOf("active", "paused", "new", "orphaned"),
    nextAt: orNull(moment),
    paused: orNull(
      shape<NonNullable<ScheduleAnswer["paused"]>>({ at: moment, actor: orNull(text), reason: orNull(text) }),
    ),
    last: orNull(
      shape<NonNullable<ScheduleAnswer["last"]>>({
        tick: moment,
        at: moment,
        result: oneOf("started", "existed", "failed"),
        instance: orNull(id),
        error: orNull(text),
      }),
    ),
  }),
);

export const scheduleRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/schedules",
    verb: "schedules",
    may: "look",
    tag,
    summary: "The schedules that are declared or have been kept.",
    answers: listOf(schedule),
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
    answers: started,
  },
];
