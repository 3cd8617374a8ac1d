import { lifecycle } from "../../src/definition/lifecycle.ts";
import { schedule } from "../../src/definition/schedule/schedule.ts";

export const tick = lifecycle("tick", {
  initial: "told",
  states: { told: { forever: true, on: { heard: "over" } }, over: { final: "success" } },
});

/** Of which no tick may be lost, whoever dies. */
export const everySecond = schedule("every-second", { interval: "1s", start: tick, missed: "all" });
