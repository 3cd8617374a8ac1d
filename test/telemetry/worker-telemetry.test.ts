import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { trace } from "@opentelemetry/api";
import { lifecycle, type WorkerMove } from "pawl";
import { testPawl } from "pawl/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { CapturedLog } from "../support/captured-log.ts";
import { eachStore, type Store } from "../support/each-store.ts";
import { metric } from "../support/metric.ts";
import { MemoryOtel } from "../support/otel.ts";

/** The API that is to hear of ends. It answers its first call with a failure. */
let api: Server;
const heard: { id: string; ended: string }[] = [];
let calls = 0;
beforeAll(async () => {
  api = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const isUp = ++calls > 1;
      if (isUp) heard.push(JSON.parse(body));
      response.writeHead(isUp ? 200 : 503).end();
    });
  });
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
});
beforeEach(() => {
  heard.length = 0;
  calls = 0;
});
afterAll(() => new Promise((resolve) => api.close(resolve)));

function tell(ended: string) {
  return async ({ id }: { id: string }) => {
    const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    const { ok, status } = await fetch(url, { method: "POST", body: JSON.stringify({ id, ended }) });
    if (!ok) throw new Error(`The API answered ${status}.`);
  };
}

const secret = "canary-7f3a";
/** S3's task: pending, done or error; whoever waits at the API hears of both. */
const task = lifecycle("task", {
  data: z.object({ works: z.boolean(), secret: z.string().default(secret) }),
  builtIns: false,
  initial: "pending",
  states: {
    pending: {
      run: async (step) => {
        trace.getTracer("own").startSpan("inner").end();
        if (!step.data.works) throw new TypeError("no ink");
      },
      retry: { maxAttempts: 1, backoff: () => 0 },
      on: { done: { to: "done", after: tell("done") }, fail: { to: "error", after: tell("error"), deadLetter: true } },
    },
    done: { final: "success" },
    error: { final: "failure" },
  },
});
const lane = 'lane="task@1/pending"';

/** Runs one task with a real worker until the API has heard of it; gives back all that was told of it. */
async function live(works: boolean, open: Store["open"] = testPawl) {
  using otel = new MemoryOtel().begin();
  const log = new CapturedLog();
  const moves: string[] = [];
  await using t = await open({ lifecycles: [task], logger: log });
  const { id } = await t.pawl.start(task, { key: "a", data: { works } });
  let idle = () => {};
  const onMove = ({ from, to }: WorkerMove) => {
    moves.push(`${from} → ${to}`);
    if (to === "Idle") idle();
  };
  const worker = t.pawl.work({ concurrency: 1, prefetch: 0, maintenanceInterval: 0, onMove });
  const ended = await t.pawl.wait(task, "a");
  // The API fails once. That is a matter between the effect and the API: it is tried again, and the task stays as it is.
  while (heard.length === 0) {
    await new Promise<void>((resolve) => {
      idle = resolve;
    });
    await t.advance("10s");
  }
  const text = await t.pawl.inspect.metrics();
  const collected = await otel.collect();
  await worker.stop();
  const history = await t.pawl.history(task, "a");
  const letters = await t.pawl.deadLetters.list({ lifecycle: task });
  return { id, ended, text, collected, moves, history, letters, log, otel, final: await t.pawl.get(task, "a") };
}

eachStore((store) => {
  test("R90 a success is recorded as done, measured and told to the API, and the worker polls again", async () => {
    const { id, ended, final, text, collected, moves, otel } = await live(true, (options) => store.open(options));
    expect(ended).toMatchObject({ state: "done", outcome: "success" });
    expect(final).toEqual(ended);
    expect(metric(text, `pawl_tasks_claimed_total{${lane}}`)).toBe(1);
    expect(metric(text, `pawl_tasks_done_total{${lane}}`)).toBe(1);
    expect(metric(text, `pawl_step_duration_seconds_count{${lane}}`)).toBe(1);
    expect(metric(text, `pawl_step_duration_seconds_sum{${lane}}`)).toBeGreaterThan(0);
    expect(collected.get("pawl.tasks.done{lane=task@1/pending}")).toBe(1);
    expect(otel.recorded.get("pawl.step.duration")).toContainEqual({
      value: expect.any(Number),
      attributes: { lane: "task@1/pending" },
    });
    expect([calls, heard]).toEqual([2, [{ id, ended: "done" }]]);
    expect(moves).toContain("Processing → ReportingSuccess");
    expect(moves).toContain("ReportingSuccess → Polling");
  });

  test("R91 a failure is recorded as error with its exception, measured and told to the API, and the worker polls again", async () => {
    const { id, ended, final, text, moves, history, letters, log } = await live(false, (options) =>
      store.open(options),
    );
    expect(ended).toMatchObject({ state: "error", outcome: "failure" });
    expect(final).toEqual(ended);
    const exception = { name: "TypeError", message: "no ink", stack: expect.stringContaining("worker-telemetry") };
    expect(history).toContainEqual(
      expect.objectContaining({ event: "fail", payload: expect.objectContaining({ attempts: 1, error: exception }) }),
    );
    expect(letters).toMatchObject([{ instance: id, origin: "pending", error: exception }]);
    expect(metric(text, `pawl_tasks_failed_total{${lane}}`)).toBe(1);
    expect(metric(text, `pawl_dead_letters_total{${lane}}`)).toBe(1);
    expect(metric(text, `pawl_tasks_done_total{${lane}}`)).toBe(0);
    expect(metric(text, 'pawl_tasks_retried_total{lane="task@1:after"}'), "the call that the API refused").toBe(1);
    expect(log.said("error")).toEqual(["task@1/pending failed and left a dead letter."]);
    expect([calls, heard]).toEqual([2, [{ id, ended: "error" }]]);
    expect(moves).toContain("Processing → ReportingFailure");
    expect(moves).toContain("ReportingFailure → Polling");
  });

  test("R83 logging, metrics and tracing are there before the loop of a worker makes its first move", async () => {
    using otel = new MemoryOtel().begin();
    const log = new CapturedLog();
    await using t = await store.open({ lifecycles: [task], logger: log });
    let atFirstMove: { text: Promise<string>; asked: string[]; said: string[] } | undefined;
    const moved = new Promise<void>((resolve) => {
      t.pawl.work({
        onMove: ({ from }) => {
          if (from !== "Startup") return;
          atFirstMove = { text: t.pawl.inspect.metrics(), asked: [...otel.asked], said: log.said("info") };
          resolve();
        },
      });
    });
    await moved;
    expect(atFirstMove!.said).toContain("Worker started.");
    expect(atFirstMove!.asked).toEqual(["meter pawl", "tracer pawl"]);
    expect(metric(await atFirstMove!.text, 'pawl_workers{state="Connecting"}')).toBe(1);
    expect((await otel.collect()).get("pawl.database.up{}")).toBe(1);
    await t.pawl.close();
    expect(log.said("info")).toContain("Worker stopped.");
  });
});

test("a span for each step says which task it was, and holds the spans that the step makes", async () => {
  const { id, otel } = await live(true);
  expect(otel.spans).toContainEqual({
    name: "pawl.step",
    parent: undefined,
    attributes: {
      "pawl.lane": "task@1/pending",
      "pawl.lifecycle": "task",
      "pawl.state": "pending",
      "pawl.attempt": 1,
      "pawl.instance": id,
      "pawl.outcome": "event",
      "pawl.event": "done",
    },
    status: undefined,
    exceptions: [],
  });
  expect(otel.spans).toContainEqual(expect.objectContaining({ name: "inner", parent: "pawl.step" }));
  expect(otel.spans).toContainEqual(expect.objectContaining({ name: "pawl.claim", attributes: { "pawl.tasks": 1 } }));
  expect(otel.spans).toContainEqual(expect.objectContaining({ name: "pawl.report", attributes: { "pawl.tasks": 1 } }));
  const failed = (await live(false)).otel.spans.find((span) => span.name === "pawl.step");
  expect(failed).toMatchObject({ status: { code: 2 }, exceptions: [expect.any(TypeError)] });
});

test("neither logs nor spans nor labels hold what an instance holds", async () => {
  for (const works of [true, false]) {
    const { id, log, otel, text, collected } = await live(works);
    const told = JSON.stringify([log.lines, otel.spans, [...otel.recorded], [...collected]]);
    expect(told).toContain(id);
    expect(told).not.toContain(secret);
    expect(text).not.toContain(secret);
    expect(text, "labels are names that a definition declares").not.toContain(id);
    expect([...collected.keys()].join()).not.toContain(id);
  }
});
