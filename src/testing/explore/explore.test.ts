import { describe, expect, test } from "vitest";
import { z } from "zod";
import { job } from "../../definition/job.ts";
import { lifecycle } from "../../definition/lifecycle.ts";
import { constant } from "../../policy/retry.ts";
import { explore } from "./explore.ts";

const nothing = (): void => {};
const done = { final: "success" } as const;

/** The findings, each as its code and its state. */
function found(given: Parameters<typeof explore>[0], options?: { data: readonly object[] }): string[] {
  return explore(given, options as never).findings.map(({ code, severity, state }) => `${severity} ${code} ${state}`);
}

const parcel = lifecycle("parcel", {
  initial: "labeling",
  recovery: { after: "5m" },
  states: {
    labeling: { run: nothing, retry: { maxAttempts: 3, backoff: constant("10s") }, on: { labeled: "ready" } },
    ready: { timeout: { after: "7d", send: "fail" }, on: { shipped: "done", weighed: {} }, recoverWith: "relabel" },
    done,
    failed: { on: { relabel: "labeling" } },
  },
});

test("a sound definition has no findings, and is shown with what moves it, what a failure leads to and what a step may spend", () => {
  const { findings, states, matrix, text } = explore(parcel);
  expect(findings).toEqual([]);
  expect(states).toEqual([
    {
      name: "labeling",
      kind: "work",
      movedBy: ["worker"],
      failure: { kind: "recovers", afterMs: 300_000, states: ["labeling"] },
      budget: { attempts: 3, pausesMs: 20_000 },
    },
    {
      name: "ready",
      kind: "wait",
      movedBy: ["clock", "caller"],
      failure: { kind: "recovers", afterMs: 300_000, states: ["labeling"] },
      budget: null,
    },
  ]);
  expect(matrix.cells.ready).toEqual({
    labeled: { kind: "refused" },
    shipped: { kind: "moves", to: ["done"], isGuarded: false },
    weighed: { kind: "stays", isGuarded: false },
    relabel: { kind: "refused" },
  });
  expect(text).toBe(
    [
      "parcel@1: 2 states, 4 events, 0 errors, 0 warnings",
      "",
      "state            left by        after a failure  budget",
      "labeling (work)  worker         5m → labeling    3 attempts, 20s",
      "ready (wait)     clock, caller  5m → labeling    -",
      "",
      "state \\ event  labeled  shipped  weighed  relabel",
      "labeling       ready    .        .        .",
      "ready          .        done     stays    .",
      "failed         .        .        .        labeling",
      "",
    ].join("\n"),
  );
});

test("a job can be explored, too", () => {
  expect(explore(job("tidy", { run: nothing })).states.map(({ name }) => name)).toEqual(["pending"]);
});

describe("states that cannot be left", () => {
  test("a timeout whose event a guard refuses does not fire again", () => {
    const waiting = { timeout: { after: "1h", send: "expire" }, on: { expire: { to: "done", guard: () => "no" } } };
    const one = lifecycle("one", { initial: "waiting", states: { waiting, done } } as never);
    expect(found(one)).toEqual(["error exit_guarded waiting"]);
  });

  test("a release that a guard refuses leaves the instance parked", () => {
    const parked = { release: { interval: "1m", limit: 5, send: "go" }, on: { go: { to: "done", guard: () => "no" } } };
    const one = lifecycle("one", { initial: "parked", states: { parked, done } } as never);
    expect(explore(one).findings[0]).toMatchObject({
      code: "exit_guarded",
      state: "parked",
      event: "go",
      message: expect.stringContaining("then the instance stays parked"),
    });
  });

  test("a timeout that only reminds ends no wait; a later one that leaves does", () => {
    const states = (timeout: object) => ({
      waiting: { timeout, on: { remind: {}, expire: "done", ok: "done" } },
      done,
    });
    const remind = { after: "1h", send: "remind" };
    const make = (timeout: object) => lifecycle("one", { initial: "waiting", states: states(timeout) } as never);
    expect(found(make(remind))).toEqual(["error timeout_stays waiting"]);
    expect(found(make([remind, { after: "2h", send: "expire" }]))).toEqual([]);
    expect(found(make([remind, { after: "30m", send: "expire" }]))).toEqual(["warning timeout_unreachable waiting"]);
  });

  test("a wait for ever needs one event that no guard can refuse", () => {
    const make = (on: object) =>
      lifecycle("one", { initial: "waiting", states: { waiting: { forever: true, on }, done } } as never);
    const guarded = { to: "done", guard: () => "no" };
    expect(found(make({ a: guarded, b: guarded }))).toEqual(["warning exit_guarded waiting"]);
    expect(found(make({ a: guarded, b: [guarded, "done"] }))).toEqual([]);
  });

  test("a timeout that may be null is one only for the examples for which it is not", () => {
    const one = lifecycle("one", {
      data: z.object({ hours: z.number() }),
      initial: "waiting",
      states: {
        waiting: {
          timeout: { after: ({ data }) => (data.hours === 0 ? null : data.hours * 3_600_000), send: "expire" },
          on: { expire: "done", ok: "done" },
        },
        done,
      },
    });
    expect(found(one)).toEqual(["warning timeout_optional waiting"]);
    expect(found(one, { data: [{ hours: 1 }, { hours: 0 }] })).toEqual(["warning timeout_optional waiting"]);
    expect(found(one, { data: [{ hours: 1 }] })).toEqual([]);
  });

  test("a join that waits for failed children has no end; one with a timeout has", () => {
    const make = (more: object) =>
      lifecycle("one", {
        initial: "joining",
        states: { joining: { join: { failed: "wait" }, on: { joined: "done", expire: "done" }, ...more }, done },
      } as never);
    expect(found(make({}))).toEqual(["warning wait_unbounded joining"]);
    expect(found(make({ timeout: { after: "1h", send: "expire" } }))).toEqual([]);
  });

  test("a deadline ends every wait", () => {
    const waiting = { forever: true, on: { a: { to: "done", guard: () => "no" } } };
    const one = { deadline: { within: "1d" }, initial: "waiting", states: { waiting, done } };
    expect(found(lifecycle("one", one as never))).toEqual([]);
  });
});

describe("recoveries and failures that loop", () => {
  const charging = (on: object) =>
    lifecycle("one", {
      initial: "charging",
      states: {
        charging: { run: nothing, on: { charged: "done", ...on } },
        resting: { timeout: { after: "1m", send: "again" }, on: { again: "charging" } },
        done,
      },
    } as never);

  test("a failure that is caught and leads back is counted by no budget", () => {
    const { findings } = explore(charging({ fail: "resting" }));
    expect(findings).toEqual([
      expect.objectContaining({
        code: "loop_unbounded",
        severity: "error",
        path: ["charging", "resting", "charging"],
        message: expect.stringContaining("no budget counts it"),
      }),
    ]);
  });

  test("with a guard it is a warning, and with a deadline it ends", () => {
    expect(found(charging({ fail: { to: "resting", guard: () => true } }))).toEqual([
      "warning loop_unbounded charging",
    ]);
    const definition = {
      deadline: { within: "1d" },
      initial: "charging",
      states: {
        charging: { run: nothing, on: { charged: "done", fail: "resting" } },
        resting: { timeout: { after: "1m", send: "again" }, on: { again: "charging" } },
        done,
      },
    };
    expect(found(lifecycle("one", definition as never))).toEqual([]);
  });

  test("a timer that leads round is one that only an event from outside ends", () => {
    const polling = { timeout: { after: "1m", send: "poll" }, on: { poll: "polling", found: "done" } };
    const { findings } = explore(lifecycle("one", { initial: "polling", states: { polling, done } } as never));
    expect(findings).toMatchObject([{ code: "loop_unbounded", severity: "warning", path: ["polling", "polling"] }]);
    expect(findings[0]!.message).toContain("only an external event ends it");
  });

  test("a recovery that a guard can refuse is told, with its reason for the examples", () => {
    const one = lifecycle("one", {
      data: z.object({ finished: z.boolean() }),
      initial: "open",
      recovery: {},
      states: {
        open: {
          timeout: { after: "1h", send: "fail" },
          on: { close: { to: "closing", guard: ({ data }) => data.finished || "it is not finished" } },
          recoverWith: "close",
        },
        closing: { run: nothing, on: { closed: "done" } },
        done,
      },
    });
    expect(found(one)).toEqual(["warning recovery_refused open"]);
    expect(found(one, { data: [{ finished: true }] })).toEqual([]);
    const [finding] = explore(one, { data: [{ finished: false }] }).findings;
    expect(finding!.message).toContain("it is not finished");
  });
});

describe("events that some state forgets", () => {
  const cancelled = { final: "failure" } as const;

  test("one that the state before takes, and that loses a race with a timer", () => {
    const one = lifecycle("one", {
      initial: "waiting",
      states: {
        waiting: { timeout: { after: "1h", send: "late" }, on: { paid: "done", late: "reminding" } },
        reminding: { run: nothing, on: { reminded: "done" } },
        done,
      },
    });
    const { findings, matrix, text } = explore(one);
    expect(findings).toMatchObject([{ code: "event_forgotten", state: "reminding", event: "paid" }]);
    expect(findings[0]!.message).toContain("`late` can lead there from `waiting` first");
    expect(matrix.cells.reminding!.paid).toEqual({ kind: "forgotten" });
    expect(text).toContain("reminding      FORGOTTEN  .          done");
  });

  test("one that most other states take, also where a step runs", () => {
    const one = lifecycle("one", {
      initial: "paying",
      states: {
        paying: { forever: true, on: { pay: "packing", cancel: "cancelled" } },
        packing: { run: (step) => step.go("packed"), on: { packed: "sending", cancel: "cancelled" } },
        sending: { run: (step) => step.go("sent"), on: { sent: "done" } },
        done,
        cancelled,
      },
    });
    expect(explore(one).findings).toMatchObject([{ code: "event_forgotten", state: "sending", event: "cancel" }]);
  });

  test("an event of every state is forgotten nowhere, and no outcome of a step", () => {
    const one = lifecycle("one", {
      initial: "paying",
      on: { cancel: { to: "cancelled" } },
      states: {
        paying: { forever: true, on: { pay: "packing" } },
        packing: { run: nothing, on: { packed: "done" } },
        done,
        cancelled,
      },
    });
    expect(explore(one).findings).toEqual([]);
  });
});

describe("times that do not fit together", () => {
  const make = (deadline: string, more: object = {}, states: object = {}) =>
    lifecycle("one", {
      deadline: { within: deadline },
      initial: "resting",
      ...more,
      states: { resting: { timeout: { after: "1h", send: "on" }, on: { on: "done" } }, ...states, done },
    } as never);

  test("a deadline that the timeouts alone use up", () => {
    expect(found(make("30m"))).toEqual(["error deadline_unmeetable null", "warning timeout_unreachable resting"]);
    expect(found(make("2h"))).toEqual([]);
  });

  test("a recovery that comes after the deadline, or a budget that does not fit in", () => {
    const recovery = { after: "10m", maxFailures: 4, fallback: "again" };
    const failed = { on: { again: "resting" } };
    const early = { resting: { timeout: { after: "1m", send: "on" }, on: { on: "done" } }, failed };
    expect(found(make("10m", { recovery }, early))).toEqual(["error recovery_too_late null"]);
    expect(found(make("25m", { recovery }, early))).toEqual(["warning recovery_too_late null"]);
    expect(found(make("31m", { recovery }, early))).toEqual([]);
  });

  test("a fallback into a join, which has no children when the failure came before they were started", () => {
    const recovery = { fallback: "again" };
    const states = {
      resting: { timeout: { after: "1m", send: "on" }, on: { on: "joining" } },
      joining: { join: {}, on: { joined: "done" } },
    };
    const unguarded = make("1d", { recovery }, { ...states, failed: { on: { again: "joining" } } });
    expect(found(unguarded)).toEqual(["warning join_skipped failed"]);
    const guard = ({ data }: { data: { started?: boolean } }) => data.started === true || "no child was started";
    const guarded = [{ to: "joining", guard }, { to: "resting" }];
    expect(found(make("1d", { recovery }, { ...states, failed: { on: { again: guarded } } }))).toEqual([]);
    expect(found(make("1d", { recovery }, { ...states, failed: { on: { again: "resting" } } }))).toEqual([]);
  });

  test("a release that comes after the deadline, and retries that do", () => {
    const states = {
      resting: { release: { interval: "1h", limit: 1, send: "on" }, on: { on: "working" } },
      working: { run: nothing, retry: { maxAttempts: 4, backoff: constant("20m") }, on: { worked: "done" } },
    };
    expect(found(make("30m", {}, states))).toEqual([
      "warning release_too_slow resting",
      "warning retries_too_slow working",
    ]);
  });

  test("a budget that takes longer than anybody waits", () => {
    const working = { run: nothing, retry: { maxAttempts: 1_000, backoff: constant("1d") }, on: { worked: "done" } };
    const one = lifecycle("one", { initial: "working", states: { working, done } } as never);
    expect(found(one)).toEqual(["error budget_endless working"]);
    expect(explore(one).findings[0]!.message).toContain("1,000 attempts of `working` take up to 999 days");
  });
});

describe("functions of the author", () => {
  test("a backoff, a timeout and a guard that throw or return nonsense are findings, and nothing is thrown", () => {
    const broken = (): never => {
      throw new Error("no pause");
    };
    const one = lifecycle("one", {
      data: z.object({ name: z.string() }),
      initial: "working",
      recovery: {},
      states: {
        working: { run: nothing, retry: { maxAttempts: 3, backoff: broken }, on: { worked: "waiting" } },
        waiting: {
          timeout: { after: (() => "soon") as never, send: "fail" },
          on: { on: { to: "done", guard: broken } },
          recoverWith: "on",
        },
        done,
      },
    });
    const { findings } = explore(one, { data: [{ name: "a" }] });
    expect(findings.map(({ code, state }) => `${code} ${state}`)).toEqual([
      "function_failed waiting",
      "function_failed waiting",
      "function_failed working",
    ]);
    expect(findings.map(({ message }) => message).join("\n")).toMatch(/"soon" is not a duration[\s\S]*no pause/);
  });

  test("a promise where a duration is needed is a finding, too", () => {
    const waiting = { timeout: { after: async () => "1h", send: "fail" }, on: { on: "done" } };
    const one = lifecycle("one", { initial: "waiting", states: { waiting, done } } as never);
    expect(explore(one, { data: [{}] as never }).findings[0]!.message).toContain("returned a promise");
  });
});

describe("bad input", () => {
  test.each([undefined, null, "parcel", {}, { kind: "lifecycle" }])("%j is no lifecycle", (given) => {
    expect(() => explore(given as never)).toThrow("`explore` needs the return value of lifecycle() or job()");
  });

  test("an unknown option, options that are none, and examples that do not fit the data", () => {
    expect(() => explore(parcel, { dat: [] } as never)).toThrow(
      "Unknown option `dat` for `explore`. Did you mean `data`?",
    );
    expect(() => explore(parcel, 7 as never)).toThrow("`explore` takes an object with `data`.");
    expect(() => explore(parcel, { data: {} } as never)).toThrow("`data` of `explore` must be a list");
    expect(() => explore(parcel, { data: [{ weight: 1 }] } as never)).toThrow("Example 1 in `data` of `explore`");
  });
});
