import { type AnySchedule, timingText } from "./schedule.ts";
import { type Ticks, ticksOf } from "./ticks.ts";

/** A schedule of this process, ready to be kept. */
export interface Entry {
  readonly schedule: AnySchedule;
  readonly timing: string;
  readonly ticks: Ticks;
  /** This process has registered it since its start: from then on, a newer process may replace it. */
  isDeclared: boolean;
}

/** The schedules of a process, by name. */
export class Timetable {
  readonly entries: ReadonlyMap<string, Entry>;

  constructor(schedules: readonly AnySchedule[]) {
    this.entries = new Map(
      schedules.map((schedule) => [
        schedule.name,
        { schedule, timing: timingText(schedule), ticks: ticksOf(schedule), isDeclared: false },
      ]),
    );
  }
}
