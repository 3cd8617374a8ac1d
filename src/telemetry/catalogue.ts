import type { Histogram } from "./histogram.ts";

/** All metrics. Labels are names from definitions, never ids, so their number is bounded. */
export const catalogue = {
  tasks_claimed: { kind: "counter", help: "Tasks that workers claimed." },
  tasks_done: { kind: "counter", help: "Tasks that ended well." },
  tasks_failed: { kind: "counter", help: "Attempts that failed." },
  tasks_retried: { kind: "counter", help: "Attempts that failed or lapsed and are followed by another." },
  tasks_deferred: { kind: "counter", help: "Tasks that their step put off." },
  tasks_released: { kind: "counter", help: "Tasks that a stopping worker returned." },
  tasks_lapsed: { kind: "counter", help: "Tasks of workers that fell silent." },
  leases_lost: { kind: "counter", help: "Results that came after their lease was lost, and did not count." },
  dead_letters: { kind: "counter", help: "Tasks that failed permanently." },
  schedule_ticks: { kind: "counter", help: "Ticks of schedules that were run." },
  instances_pruned: { kind: "counter", help: "Ended instances that were deleted after their time." },
  messages: { kind: "counter", help: "Messages that relays dealt with: published, failed, deferred or dead." },
  callbacks: { kind: "counter", help: "Callbacks that this process received, by their first result." },
  breaker_changes: { kind: "counter", help: "Breakers that this process opened, half-opened or closed." },
  step_duration_seconds: { kind: "histogram", help: "How long steps run." },
  claim_batch_tasks: { kind: "histogram", help: "How many tasks a claim brought." },
  report_batch_tasks: { kind: "histogram", help: "How many tasks were reported together." },
  workers: { kind: "gauge", help: "Workers of this process, by the state of their loop." },
  stuck_steps: { kind: "gauge", help: "Steps of this process that ignore their aborted signal." },
  worker_slots: { kind: "gauge", help: "Slots of the workers of this process, by their state." },
  database_up: { kind: "gauge", help: "Whether the database answered when this was asked." },
  instances: { kind: "gauge", help: "Instances by lifecycle and state." },
  lane_oldest_ready_seconds: {
    kind: "gauge",
    help: "How long the longest waiting of the next hundred tasks of a lane has been ready.",
  },
  instances_stuck: {
    kind: "gauge",
    help: "Instances that are stuck, by reason, up to a thousand in one lane or state.",
  },
  outbox_pending: { kind: "gauge", help: "Messages that wait to be published, up to a hundred thousand." },
  outbox_dead: { kind: "gauge", help: "Dead messages that wait for a decision." },
  breaker_state: { kind: "gauge", help: "The state of a breaker: 0 closed, 1 half-open, 2 open." },
  outbox_oldest_pending_seconds: { kind: "gauge", help: "How long the oldest message has waited to be published." },
  alerts_oldest_undelivered_seconds: {
    kind: "gauge",
    help: "How long the oldest alert that a sink could not deliver has waited; 0 when there is none.",
  },
  schedule_lag_seconds: { kind: "gauge", help: "How long a tick that has come has not been run." },
} as const satisfies Record<string, { kind: "counter" | "gauge" | "histogram"; help: string }>;

export type MetricName = keyof typeof catalogue;
type Named<Kind> = { [Name in MetricName]: (typeof catalogue)[Name]["kind"] extends Kind ? Name : never }[MetricName];
export type HistogramName = Named<"histogram">;
export type ValueName = Named<"counter" | "gauge">;

export type Labels = Readonly<Record<string, string>>;

export interface Sample<Value> {
  readonly labels: Labels;
  readonly value: Value;
}

/** The current metrics by name: numbers, and histograms. Metrics without a value are left out. */
export interface Readings {
  readonly values: Partial<Record<ValueName, readonly Sample<number>[]>>;
  readonly histograms: Partial<Record<HistogramName, readonly Sample<Histogram>[]>>;
}
