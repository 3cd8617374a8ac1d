import { expect, test } from "vitest";
import { Meters } from "./meters.ts";
import { prometheusText } from "./prometheus.ts";

test("what is counted is written as Prometheus reads it, also where there is nothing yet", async () => {
  const meters = new Meters();
  const lane = meters.lane('odd"lane');
  lane.claimed += 3;
  for (const ms of [0.5, 4, 4, 20_000_000]) lane.ran(ms);
  meters.batch("report", 2);
  meters.ticked("nightly", 2);
  meters.ticked("nightly", 1);
  meters.workers.add({ state: "Idle", slots: { Processing: 2 }, stuck: 1 });
  meters.workers.add({ state: "Idle", slots: { Processing: 1 }, stuck: 2 });
  const text = await prometheusText(meters.read());
  for (const line of [
    "# HELP pawl_tasks_claimed_total Tasks that workers claimed.",
    "# TYPE pawl_tasks_claimed_total counter",
    'pawl_tasks_claimed_total{lane="odd\\"lane"} 3',
    "# TYPE pawl_step_duration_seconds histogram",
    'pawl_step_duration_seconds_bucket{lane="odd\\"lane",le="0.001"} 1',
    'pawl_step_duration_seconds_bucket{lane="odd\\"lane",le="0.005"} 3',
    'pawl_step_duration_seconds_bucket{lane="odd\\"lane",le="1800"} 3',
    'pawl_step_duration_seconds_bucket{lane="odd\\"lane",le="+Inf"} 4',
    'pawl_step_duration_seconds_sum{lane="odd\\"lane"} 20000.0085',
    'pawl_step_duration_seconds_count{lane="odd\\"lane"} 4',
    'pawl_report_batch_tasks_bucket{le="1"} 0',
    'pawl_report_batch_tasks_bucket{le="2"} 1',
    'pawl_schedule_ticks_total{schedule="nightly"} 3',
    'pawl_workers{state="Idle"} 2',
    'pawl_worker_slots{state="Processing"} 3',
    "pawl_stuck_steps 3",
    "# TYPE pawl_instances gauge",
  ]) {
    expect(text.split("\n")).toContain(line);
  }
});
