import { constant, job, lifecycle } from "pawl";
import { expect, test } from "vitest";
import { eachStore } from "../../support/each-store.ts";

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

function fail(): never {
  throw new Error("it broke");
}

/** One state for each place in which a transition can throw. */
const fragile = lifecycle("fragile", {
  initial: "open",
  states: {
    open: {
      forever: true,
      on: {
        run: "running",
        refuse: "refusing",
        guard: "guarding",
        set: "setting",
        before: "hooking",
        await: "waiting",
        bad: { to: "open", guard: fail },
        hook: { to: "open", before: async () => fail() },
      },
    },
    running: { run: fail, retry: once, on: { ran: "done" } },
    guarding: { run: () => {}, retry: once, on: { ran: { to: "done", guard: fail } } },
    setting: { run: () => {}, retry: once, on: { ran: { to: "done", set: fail } } },
    refusing: { run: () => {}, retry: once, on: { ran: { to: "done", guard: () => "not today" } } },
    hooking: { run: () => {}, retry: once, on: { ran: { to: "done", before: async () => fail() } } },
    waiting: { timeout: { after: "1h", send: "fail" }, on: { ran: "done" } },
    done: { final: "success" },
  },
});

eachStore((store) => {
  test("R5 an error at any place of a transition moves the item to failed through `fail`; a configuration error or a call's own throws to its caller", async () => {
    await using t = await store.open({ lifecycles: [fragile] });
    const places = { run: "running", refuse: "refusing", before: "hooking", await: "waiting" } as const;
    for (const [event, state] of Object.entries(places)) {
      await t.pawl.start(fragile, { key: event });
      await t.pawl.send(fragile, event, event as keyof typeof places);
      if (event === "await") await t.advance("1h");
      else await t.work();
      expect(await t.pawl.get(fragile, event), event).toMatchObject({ state: "failed", failure: { state } });
      expect((await t.pawl.journal(fragile, event)).at(-1)).toMatchObject({ event: "fail", from: state, to: "failed" });
      await t.pawl.send(fragile, event, "discard");
    }
    // A guard or a `set` that throws is a fault of the definition: the step is set aside, no attempt is spent.
    for (const [event, state] of Object.entries({ guard: "guarding", set: "setting" } as const)) {
      await t.pawl.start(fragile, { key: event });
      await t.pawl.send(fragile, event, event as "guard");
      await t.work();
      expect(await t.pawl.get(fragile, event), event).toMatchObject({ state, failure: null });
      expect((await t.pawl.history(fragile, event)).at(-1), event).toMatchObject({ what: "deferred" });
      await t.pawl.send(fragile, event, "discard");
    }
    await t.pawl.start(fragile, { key: "called" });
    const calls = { nonsense: "event_unknown", ran: "transition_refused", bad: "guard_failed", hook: "hook_failed" };
    for (const [event, code] of Object.entries(calls))
      await expect(t.pawl.send(fragile, "called", event as "bad")).rejects.toMatchObject({ code });
    expect(await t.pawl.get(fragile, "called")).toMatchObject({ state: "open", version: 1, failure: null });
    const history = await t.pawl.history(fragile, "called");
    // What the definition threw is in the history; what could not be asked for is nothing that happened.
    expect(history.slice(1)).toMatchObject([
      { what: "failed", detail: { event: "bad", error: { message: expect.stringContaining("it broke") } } },
      { what: "failed", detail: { event: "hook", error: { message: expect.stringContaining("it broke") } } },
    ]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

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
    expect((await t.pawl.explain(claim, "late")).recovery).toMatchObject({
      failure: { reason: name },
      next: { reason: name },
    });
    expect(await t.pawl.deadLetters.list({ lifecycle: claim })).toMatchObject([{ reason: name }]);
    expect(await t.pawl.list(claim, { failure: name })).toMatchObject([{ key: "late", failure: { reason: name } }]);
    expect(await t.pawl.list(claim, { failure: name, state: "refuted" })).toEqual([]);
    expect(await t.pawl.list(claim, { failure: "refute" })).toMatchObject([
      { id: other.id, outcome: "failure", failure: { reason: "refute", state: "checking" } },
    ]);
    expect(await t.pawl.list(claim, { failure: name, parent: other })).toEqual([]);
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
    const history = await t.pawl.history(retried, "r");
    const reasons = history.flatMap((entry) => {
      if (entry.kind === "move") return entry.event === "fail" ? [entry.reason] : [];
      const { reason } = (entry.detail ?? {}) as { reason?: string };
      return reason === undefined ? [] : [reason];
    });
    expect(reasons).toEqual(["attempt_failed", "lease_expired", "attempts_used_up"]);
  });
});
