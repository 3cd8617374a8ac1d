import { routesOf } from "../api/route.ts";
import { about, id, listOf, moment, named, nothing, oneOf, orNull, shape, text } from "../api/schema.ts";
import { cause } from "../api/usual-arguments.ts";
import type { ScheduleResponse } from "../contract.ts";
import { started } from "./responses/instance-response.ts";

const schedule = named(
  "Schedule",
  shape<ScheduleResponse>({
    name: text,
    timing: about(text, "Such as `30 3 * * * Europe/Berlin` or `every 10m`."),
    starts: about(text, "The lifecycle or job that it starts."),
    status: oneOf("active", "paused", "new", "orphaned"),
    nextAt: orNull(moment),
    paused: orNull(
      shape<NonNullable<ScheduleResponse["paused"]>>({ at: moment, actor: orNull(text), reason: orNull(text) }),
    ),
    last: orNull(
      shape<NonNullable<ScheduleResponse["last"]>>({
        tick: moment,
        at: moment,
        result: oneOf("started", "existed", "failed"),
        instance: orNull(id),
        error: orNull(text),
      }),
    ),
  }),
);

const { get, post } = routesOf("Schedules");

export const scheduleRoutes = [
  get("schedules", "/schedules", "read", {
    summary: "List schedules.",
    answer: listOf(schedule),
    call: (pawl) => pawl.schedules.list(),
  }),
  post("pauseSchedule", "/schedules/{schedule}/pause", "operate", {
    summary: "Pause a schedule.",
    takes: cause,
    answer: nothing,
    call: (pawl, { schedule: name, ...cause }) => pawl.schedules.pause(name, cause),
  }),
  post("resumeSchedule", "/schedules/{schedule}/resume", "operate", {
    summary: "Resume a schedule. Missed runs are skipped.",
    answer: nothing,
    call: (pawl, { schedule: name }) => pawl.schedules.resume(name),
  }),
  post("runScheduleNow", "/schedules/{schedule}/run", "operate", {
    summary: "Run a schedule now, in addition to its planned runs.",
    answer: started,
    call: (pawl, { schedule: name }) => pawl.schedules.runNow(name),
  }),
];
