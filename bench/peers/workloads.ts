import type { Workload } from "./harness.ts";

export interface Measured {
  readonly name: Workload;
  readonly title: string;
  readonly unit: string;
  readonly about: string;
}

export const workloads: readonly Measured[] = [
  {
    name: "chain",
    title: "Five-state lifecycle",
    unit: "steps a second",
    about:
      "Pawl: a lifecycle of five `run` states. Queues: a job whose handler enqueues the next, five times. DBOS: a workflow of five steps. All are stored before; the clock stops when the store says that nothing is left.",
  },
  {
    name: "jobs",
    title: "One-step jobs",
    unit: "jobs a second",
    about: "Jobs with an empty handler, stored before.",
  },
  {
    name: "bulk",
    title: "Bulk insert",
    unit: "jobs a second",
    about: "The same jobs, stored by each system's call for many.",
  },
  {
    name: "enqueue",
    title: "One by one from 32 clients",
    unit: "jobs a second",
    about:
      "32 callers in one process, each of which waits until its job is stored before it stores the next; a quarter of the items.",
  },
  {
    name: "latency",
    title: "Start latency, same process",
    unit: "milliseconds",
    about: "One job every 20 ms to an idle worker: from the call that enqueues it to the start of its handler.",
  },
  {
    name: "latency-apart",
    title: "Start latency, from another process",
    unit: "milliseconds",
    about: "The same with the caller in another process than the worker.",
  },
];
