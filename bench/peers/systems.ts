import type { Workload } from "./harness.ts";

/** What is compared, and with which settings: the words that the report prints. */
export interface System {
  readonly name: string;
  /** Of its package in `package.json` beside this file. */
  readonly package?: string;
  readonly script: string;
  readonly store: "postgres" | "redis";
  readonly settings: string;
  /** The share of the items that it gets, where all of them would take it many minutes; rates are per second anyway. */
  readonly share?: number;
  /** The workloads that it is another way of doing; all unless given. */
  readonly only?: readonly Workload[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Handlers that store their next step each for itself, as documentation shows it, not many by one call. */
const jobByJob = { only: ["chain"], share: 0.1, env: { BENCH_JOB_BY_JOB: "1" } } as const;

export const systems: readonly System[] = [
  {
    name: "pawl",
    script: "pawl/adapter.ts",
    store: "postgres",
    settings: "`work({ concurrency: 500 })`, 16 for latency; journal, leases and fencing on, as always",
  },
  {
    name: "pg-boss",
    package: "pg-boss",
    script: "pg-boss/adapter.mjs",
    store: "postgres",
    settings:
      "4 workers with batches of 1,000, `burstWhenBatchFull`, 40 connections, LISTEN/NOTIFY for five states and latency (without it the other workloads are faster); a batch inserts its next steps by one `insert`; 8 workers of 1 for latency",
  },
  {
    name: "pg-boss, job by job",
    package: "pg-boss",
    script: "pg-boss/adapter.mjs",
    store: "postgres",
    settings: "the same, but the next step of each job is a `send` of its own; a tenth of the items",
    ...jobByJob,
  },
  {
    name: "graphile-worker",
    package: "graphile-worker",
    script: "graphile-worker/adapter.mjs",
    store: "postgres",
    settings:
      "200 concurrent jobs, local queue of 500, batched completion, 40 connections, next steps of handlers that run at once gathered by us into one `addJobs`; 16 jobs without a local queue for latency; finished jobs are deleted, no history",
  },
  {
    name: "graphile-worker, job by job",
    package: "graphile-worker",
    script: "graphile-worker/adapter.mjs",
    store: "postgres",
    settings: "the same, but the next step of each job is an `addJob` of its own; a tenth of the items",
    ...jobByJob,
  },
  {
    name: "bullmq",
    package: "bullmq",
    script: "bullmq/redis.mjs",
    store: "redis",
    settings: "on Redis with `appendfsync everysec` (up to a second may be lost); concurrency 200, `removeOnComplete`",
  },
  {
    name: "bullmq-postgres",
    package: "bullmq",
    script: "bullmq/postgres.mjs",
    store: "postgres",
    share: 0.1,
    settings: "the same on its PostgreSQL backend, 40 connections; a tenth of the items",
  },
  {
    name: "dbos",
    package: "@dbos-inc/dbos-sdk",
    script: "dbos/adapter.mjs",
    store: "postgres",
    share: 0.1,
    settings:
      "a workflow of five steps on a queue polled from 10 ms, 40 connections; for latency in one process it is started directly, without a queue; a tenth of the items; it has no bulk insert for users, so 64 calls at once stand for it",
  },
];
