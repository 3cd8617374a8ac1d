/** What is compared, and with which settings: the words that the report prints. */
export interface System {
  readonly name: string;
  /** Of its package in `package.json` beside this file. */
  readonly package?: string;
  readonly script: string;
  readonly store: "postgres" | "redis";
  readonly settings: string;
}

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
      "4 workers with batches of 1,000, `burstWhenBatchFull`, LISTEN/NOTIFY, a batch inserts its next steps by one `insert`; 8 workers of 1 for latency",
  },
  {
    name: "graphile-worker",
    package: "graphile-worker",
    script: "graphile-worker/adapter.mjs",
    store: "postgres",
    settings:
      "100 concurrent jobs, local queue of 500, batched completion, 40 connections; 16 jobs without a local queue for latency; finished jobs are deleted, no history",
  },
  {
    name: "bullmq",
    package: "bullmq",
    script: "bullmq/adapter.mjs",
    store: "redis",
    settings: "on Redis with `appendfsync everysec` (up to a second may be lost); concurrency 200, `removeOnComplete`",
  },
  {
    name: "bullmq-postgres",
    package: "bullmq",
    script: "bullmq/postgres.mjs",
    store: "postgres",
    settings: "the same on its PostgreSQL backend, 40 connections",
  },
  {
    name: "dbos",
    package: "@dbos-inc/dbos-sdk",
    script: "dbos/adapter.mjs",
    store: "postgres",
    settings:
      "a workflow of five steps on a queue polled from 10 ms, 40 connections; for latency in one process it is started directly, without a queue; it has no bulk insert for users, so 64 calls at once stand for it",
  },
];
