import { causeOf, checkedOptions } from "../../base/options.ts";
import type { AnySchedule } from "../../definition/schedule/schedule.ts";
import { type Kernel, refuseInside } from "../../kernel/kernel.ts";
import type { StartCallOptions } from "../../kernel/types/call-options.ts";
import { pauseSchedule, resumeSchedule, runScheduleNow } from "../../schedules/verbs.ts";
import { listSchedules } from "../../schedules/views/schedules.ts";
import { scheduleName } from "../arguments/options.ts";
import { startedInstance } from "../instance-result.ts";
import { newSchedule, type ScheduleStatus, type StartedInstance, scheduleOf } from "../results.ts";

/** Schedules: `pawl.schedules`. */
export class Schedules {
  readonly #kernel: Kernel;

  /** @internal */
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Lists schedules: those of this process, and all that are stored. */
  async list(): Promise<ScheduleStatus[]> {
    refuseInside(this.#kernel, "schedules.list");
    const { entries } = this.#kernel.timetable;
    const kept = await listSchedules(this.#kernel.db);
    const names = new Set(kept.map((row) => row.name));
    const unkept = [...entries.values()].filter(({ schedule }) => !names.has(schedule.name));
    const all = [...kept.map((row) => scheduleOf(row, entries.has(row.name))), ...unkept.map(newSchedule)];
    return all.sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** Pauses a schedule. Ticks that become due during the pause are skipped. */
  async pause(schedule: AnySchedule | string, options: Omit<StartCallOptions, "tx"> = {}): Promise<void> {
    refuseInside(this.#kernel, "schedules.pause");
    const by = causeOf(checkedOptions(options, ["actor", "reason"], "schedules.pause"));
    await pauseSchedule(this.#kernel, scheduleName(schedule), by);
  }

  /** Resumes a schedule with its next tick from now. */
  async resume(schedule: AnySchedule | string): Promise<void> {
    refuseInside(this.#kernel, "schedules.resume");
    await resumeSchedule(this.#kernel, scheduleName(schedule));
  }

  /** Runs a schedule now, in addition to its ticks, with the current time as the tick; also while it is paused. */
  async runNow(schedule: AnySchedule | string): Promise<StartedInstance> {
    refuseInside(this.#kernel, "schedules.runNow");
    const { lifecycle, started } = await runScheduleNow(this.#kernel, scheduleName(schedule));
    return startedInstance(this.#kernel, lifecycle, started);
  }
}
