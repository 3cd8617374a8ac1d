import { describe, expect, test } from "vitest";
import { z } from "zod";
import { job } from "./job.ts";

const payload = z.object({ to: z.string() });
const run = async () => {};

describe("a job is a lifecycle of one step", () => {
  const mail = job("send-email", { payload, run, priority: 5, limit: 2, rate: "10/s", uses: "smtp" });

  test("pending until it has run, then done, or in error when its attempts are used up", () => {
    expect(mail).toMatchObject({
      kind: "lifecycle",
      name: "send-email",
      initial: "pending",
      builtIns: false,
      job: true,
    });
    expect([...mail.states.values()].map((state) => [state.name, state.kind, state.final])).toEqual([
      ["pending", "work", undefined],
      ["done", "end", "success"],
      ["error", "end", "failure"],
    ]);
    expect(mail.states.get("pending")).toMatchObject({
      run,
      outcome: "done",
      priority: 5,
      limit: 2,
      rate: "10/s",
      uses: "smtp",
    });
    expect(mail.data).toBe(payload);
  });

  test("R94 what is done stays done, and what is in error runs again only when somebody says so", () => {
    expect(mail.edges.map(({ from, event, to, builtIn }) => ({ from, event, to, builtIn }))).toEqual([
      { from: "pending", event: "done", to: "done", builtIn: false },
      { from: "pending", event: "fail", to: "error", builtIn: false },
      { from: "error", event: "restart", to: "pending", builtIn: true },
    ]);
  });

  test("its end has hooks, and nothing else of an edge", () => {
    const [before, after] = [async () => {}, async () => {}];
    const told = job("told", { payload, run, on: { done: { after }, fail: { before, after } } });
    expect(told.edgesFrom("pending", "done")).toMatchObject([{ to: "done", after, before: undefined }]);
    expect(told.edgesFrom("pending", "fail")).toMatchObject([{ to: "error", after, before }]);
    const wrong = { run, on: { done: { to: "pending" }, fail: { after: 5 }, failed: {} } };
    const make = () => job("told", wrong as never);
    expect(make).toThrow("on.done.to: There is no key");
    expect(make).toThrow('on.failed: There is no key "failed" here. Did you mean "fail"?');
    expect(() => job("told", { run, on: { fail: { after: 5 } } } as never)).toThrow("on.fail.after: It is 5.");
  });

  test("its history is kept for seven days unless told otherwise", () => {
    expect(mail.retentionMs).toBe(7 * 86_400_000);
    expect(job("tidy", { run, retention: "1h" }).retentionMs).toBe(3_600_000);
  });

  test("faults name the place in the job, not in its lifecycle", () => {
    const written = { payload: 5, run: "x", retry: {}, rate: "often", version: 0, retention: "long" };
    const make = () => job("Tidy", written as never);
    expect(make).toThrow(/^The job "Tidy" has 7 faults:/);
    for (const place of ["name", "payload", "run", "retry.maxAttempts", "rate", "version", "retention"]) {
      expect(make).toThrow(`\n  - ${place}: `);
    }
    expect(() => job("tidy", {} as never)).toThrow("run: It is missing.");
    expect(() => job("tidy", { run, payloads: payload } as never)).toThrow('Did you mean "payload"?');
    expect(() => job("tidy", undefined as never)).toThrow("Write an object.");
  });
});
