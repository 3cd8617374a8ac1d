import { type Alert, lifecycle, PermanentError } from "pawl";
import { expect, test } from "vitest";
import { gradingRetry } from "../../examples/grading/retry.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";

/** What comes after the last try is for the state's own edges to say, by the type of the failure. */
const grading = lifecycle("grading", {
  initial: "grading",
  states: {
    grading: {
      run: async () => {},
      retry: gradingRetry,
      on: {
        graded: "done",
        fail: [
          {
            to: "reviewing",
            deadLetter: true,
            guard: ({ payload }) => payload.type === "llm_timeout" || "no time-out",
          },
          { to: "using_backup", deadLetter: true, guard: ({ payload }) => payload.type === "stt_failed" || "it heard" },
        ],
      },
    },
    using_backup: { run: async () => {}, on: { graded: "done" } },
    reviewing: { forever: true, on: { graded: "done" } },
    done: { final: "success" },
  },
});

const named = (name: string) => Object.assign(new Error("no luck"), { name });
const reset = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });

const table: Record<string, { error: Error; retries: number; state: string; type: string; alerts: number }> = {
  "LLM time-out": { error: named("LlmTimeoutError"), retries: 3, state: "reviewing", type: "llm_timeout", alerts: 0 },
  "STT failure": { error: named("SttError"), retries: 3, state: "using_backup", type: "stt_failed", alerts: 0 },
  "network error": { error: reset, retries: 3, state: "failed", type: "network", alerts: 1 },
  "invalid input": { error: named("ValidationError"), retries: 0, state: "failed", type: "validation", alerts: 1 },
  "another error": { error: new RangeError("no luck"), retries: 3, state: "failed", type: "RangeError", alerts: 1 },
  "permanent error": {
    error: new PermanentError("no"),
    retries: 0,
    state: "failed",
    type: "PermanentError",
    alerts: 1,
  },
};

/** Fails until nothing is tried again; gives back how often it was. */
async function failFor(t: TestPawl, error: Error): Promise<number> {
  for (let retries = 0; ; retries++) {
    await (await t.claim("grading/grading")).fail(error);
    await t.advance("10s");
    if ((await t.pawl.get(grading, "g"))!.state !== "grading") return retries;
  }
}

eachStore((store) => {
  for (const [failure, { error, retries, state, type, alerts }] of Object.entries(table)) {
    test(`R68 ${failure}: ${retries} retries, a dead letter, then ${state}, and ${alerts === 0 ? "nobody" : "somebody"} is alerted`, async () => {
      const heard: Alert[] = [];
      await using t = await store.open({ lifecycles: [grading], alerts: [(alert) => heard.push(alert)] });
      await t.pawl.start(grading, { key: "g" });
      expect(await failFor(t, error)).toBe(retries);
      expect(await t.pawl.get(grading, "g")).toMatchObject({ state });
      expect((await t.pawl.journal(grading, "g")).at(-1)).toMatchObject({
        event: "fail",
        payload: { type, attempts: retries + 1, error: { name: error.name } },
      });
      expect(await t.pawl.deadLetters.list({ lifecycle: grading })).toMatchObject([
        { origin: "grading", payload: { type } },
      ]);
      await t.deliverAlerts();
      expect(heard).toHaveLength(alerts);
      expect(await t.pawl.inspect.verify()).toEqual([]);
    });
  }
});
