import { constant, job, lifecycle } from "pawl";
import { expect, test } from "vitest";
import { eachStore } from "../support/each-store.ts";

const once = { maxAttempts: 1, backoff: constant("1s") };

const claim = lifecycle("claim", {
  initial: "checking",
  deadline: { within: "1h" },
  recovery: { maxFailures: 3, after: "1m" },
  states: {
    checking: { run: (step) => step.go("checked"), retry: once, on: { checked: "done", refute: "refuted" } },
    done: { final: "success" },
    refuted: { final: "failure" },
  },
});
const email = job("email", { run: () => {}, retry: once });

eachStore((store) => {
  test("A57 an instance that failed carries reason, error, time and state, and no more once it has gone on", async () => {
    await using t = await store.open({ lifecycles: [claim] });
    await t.pawl.start(claim, { key: "c" });
    expect(await t.pawl.get(claim, "c")).toMatchObject({ failure: null });
    await (await t.claim("claim/checking")).fail(new TypeError("no form"));
    const failure = {
      reason: "attempts_used_up",
      error: { name: "TypeError", message: "no form" },
      at: t.now(),
      state: "checking",
    };
    expect(await t.pawl.get(claim, "c")).toMatchObject({ state: "failed", failure });
    await t.advance("1m");
    await (await t.claim("claim/failed")).run();
    expect(await t.pawl.get(claim, "c")).toMatchObject({ state: "checking", failure: null });
    const sent = await t.pawl.send(claim, "c", "fail", { reason: "by hand", error: null, type: null, attempts: 0 });
    expect(sent).toMatchObject({ failure: { reason: "by hand", error: null, at: t.now(), state: "checking" } });
  });

  test("A57 one failure has one name: in the history, in explain, in the dead letter, in lists and for filters", async () => {
    await using t = await store.open({ lifecycles: [claim, email] });
    await t.pawl.start(claim, { key: "late" });
    const other = await t.pawl.start(claim, { key: "other" });
    await t.pawl.send(claim, "other", "refute");
    await t.advance("1h");
    const name = "deadline";
    expect(await t.pawl.get(claim, "late")).toMatchObject({ failure: { reason: name } });
    expect((await t.pawl.journal(claim, "late")).at(-1)).toMatchObject({ reason: name, payload: { reason: name } });
    expect(await t.pawl.explainRecovery(claim, "late")).toMatchObject({
      failure: { reason: name },
      next: { reason: name },
    });
    expect(await t.pawl.deadLetters(claim)).toMatchObject([{ reason: name }]);
    expect(await t.pawl.find(claim, { failure: name })).toMatchObject([{ key: "late", failure: { reason: name } }]);
    expect(await t.pawl.find(claim, { failure: name, state: "refuted" })).toEqual([]);
    expect(await t.pawl.find(claim, { failure: "refute" })).toMatchObject([
      { id: other.id, outcome: "failure", failure: { reason: "refute", state: "checking" } },
    ]);
    await expect(t.pawl.find(claim, { failure: name, parent: other })).rejects.toMatchObject({
      code: "option_invalid",
    });
  });

  test("only the last attempt says that attempts are used up", async () => {
    const retried = lifecycle("retried", {
      initial: "trying",
      states: {
        trying: { run: async () => {}, retry: { maxAttempts: 3, backoff: constant("1s") }, on: { done: "done" } },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [retried] });
    await t.pawl.start(retried, { key: "r" });
    await (await t.claim("retried/trying")).fail(new Error("no"));
    await t.advance("1s");
    await t.claim("retried/trying"); // Its worker falls silent.
    await t.advance("31s");
    await (await t.claim("retried/trying")).fail(new Error("no"));
    const history = await t.pawl.journal(retried, "r", { attempts: true });
    const reasons = history.flatMap((entry) => {
      if (entry.kind === "move") return entry.event === "fail" ? [entry.reason] : [];
      const { reason } = (entry.detail ?? {}) as { reason?: string };
      return reason === undefined ? [] : [reason];
    });
    expect(reasons).toEqual(["attempt_failed", "lease_expired", "attempts_used_up"]);
  });
});
