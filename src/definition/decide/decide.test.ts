import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { isPawlError } from "../../base/errors.ts";
import { job } from "../job.ts";
import { lifecycle } from "../lifecycle.ts";
import type { Context, LifecycleModel } from "../model.ts";
import { buildLifecycle } from "../read/build.ts";
import { statesAndEdges } from "../shape.ts";
import { allowedEvents } from "./allowed-events.ts";
import { decide, decideRename, decideStart, type Refusal } from "./decide.ts";
import type { InstanceModel } from "./instance.ts";
import type { Decision, LifecycleEvent } from "./move.ts";

const now = Date.UTC(2030, 0, 1, 12);
const id = "0195a1c0-0000-7000-8000-000000000000";

function start(model: LifecycleModel, data: unknown = {}): Decision {
  return decideStart(model, { id, key: "k", data, actor: null, reason: null }, now);
}

function event(name: string, payload?: unknown, more: Partial<LifecycleEvent> = {}): LifecycleEvent {
  return { name, payload, actor: null, reason: null, ...more };
}

function decided(outcome: Decision | Refusal): Decision {
  if (outcome.kind === "refused") throw new Error(outcome.blockers.map((one) => one.reason).join("; "));
  return outcome;
}

/** Sends events in their order, each of which must be accepted. */
function follow(model: LifecycleModel, from: InstanceModel, ...events: (string | LifecycleEvent)[]): InstanceModel {
  return events.reduce(
    (instance, one) => decided(decide(model, instance, typeof one === "string" ? event(one) : one, now)).instance,
    from,
  );
}

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (isPawlError(error)) return error.code;
    throw error;
  }
  return "nothing thrown";
}

const withEdge = (edge: Record<string, unknown>) =>
  buildLifecycle("bad", {
    initial: "a",
    states: { a: { forever: true, on: { go: { to: "b", ...edge } } }, b: { final: "success" } },
  });

const oops = () => {
  throw new Error("oops");
};

const withSchema = (data: unknown) =>
  buildLifecycle("odd", {
    data,
    initial: "a",
    states: { a: { forever: true, on: { go: "b" } }, b: { final: "success" } },
  });

const guard = ({ data, actor }: Context) => (data.b ?? 0) % 2 === 0 || actor === "ada" || "only Ada may do so now";

/** Every step of a walk: each decision with its input. */
function* walk(model: LifecycleModel, sent: readonly LifecycleEvent[]) {
  let instance = start(model).instance;
  for (const one of sent) {
    const outcome = decide(model, instance, one, now);
    yield { instance, event: one, outcome };
    if (outcome.kind === "decided") instance = outcome.instance;
  }
}

describe("one event", () => {
  const asked: string[] = [];
  const order = lifecycle("order", {
    data: z.object({ amount: z.number(), paid: z.number().optional(), note: z.string().optional() }),
    events: { pay: z.object({ sum: z.coerce.number() }), annotate: z.object({ note: z.string().optional() }) },
    initial: "open",
    deadline: { within: "20d" },
    states: {
      open: {
        timeout: [
          { after: "1d", send: "remind" },
          { after: ({ data }) => (data.amount > 100 ? "7d" : null), send: "fail" },
        ],
        on: {
          pay: [
            {
              to: "paid",
              guard: ({ data, payload }) => {
                asked.push("guard of paid");
                return payload.sum >= data.amount || `${data.amount - payload.sum} is missing`;
              },
              set: ({ payload }) => {
                asked.push("set of paid");
                return { paid: payload.sum };
              },
              before: () => asked.push("before"),
              after: () => asked.push("after"),
            },
            {
              to: "partly",
              guard: ({ payload }) => {
                asked.push("guard of partly");
                return payload.sum > 0 || "nothing was paid";
              },
              set: () => {
                asked.push("set of partly");
                return {};
              },
            },
          ],
          annotate: { set: ({ payload }) => ({ note: payload.note }) },
          remind: {},
          reopen: "open",
        },
      },
      partly: { forever: true, on: { pay: "paid", lost: "failed" } },
      paid: { final: "success" },
    },
  });
  const open = start(order, { amount: 50 }).instance;

  test("R2 what is allowed is asked first, then the change is worked out; hooks and effects are left to who saves it", () => {
    asked.length = 0;
    const paid = decided(decide(order, open, event("pay", { sum: 60 }), now));
    expect(asked).toEqual(["guard of paid", "set of paid"]);
    expect(paid).toMatchObject({ from: "open", to: "paid", patch: { paid: 60 }, endsRun: true });
    expect(paid.before).toBeTypeOf("function");
    expect(paid.effects).toMatchObject([{ lane: "order@1:after", event: "pay", from: "open", to: "paid" }]);
  });

  test("R2 the first edge whose guard holds is taken, and only its change is worked out", () => {
    asked.length = 0;
    const partly = decided(decide(order, open, event("pay", { sum: 10 }), now));
    expect(asked).toEqual(["guard of paid", "guard of partly", "set of partly"]);
    expect(partly).toMatchObject({ to: "partly", before: undefined, effects: [], patch: null });
  });

  test("R2 where no guard holds nothing is worked out, and every reason is given", () => {
    asked.length = 0;
    const refused = decide(order, open, event("pay", { sum: 0 }), now);
    expect(asked).toEqual(["guard of paid", "guard of partly"]);
    expect(refused).toEqual({
      kind: "refused",
      blockers: [
        { kind: "guard", event: "pay", from: "open", to: "paid", reason: "50 is missing" },
        { kind: "guard", event: "pay", from: "open", to: "partly", reason: "nothing was paid" },
      ],
    });
  });

  test("a payload is taken as its schema reads it", () => {
    expect(decided(decide(order, open, event("pay", { sum: "60" }), now)).payload).toEqual({ sum: 60 });
  });

  test("a payload that its schema refuses is a blocker of its own, and no guard is asked", () => {
    asked.length = 0;
    expect(decide(order, open, event("pay", { sum: "much" }), now)).toMatchObject({ blockers: [{ kind: "payload" }] });
    expect(decide(order, open, event("remind", { loud: true }), now)).toMatchObject({
      blockers: [{ kind: "payload", reason: "is given, but none is declared" }],
    });
    expect(asked).toEqual([]);
  });

  test("an event that does not lead out of the state is told from one that does not exist, and from an end", () => {
    const kind = (instance: InstanceModel, name: string) => {
      const refused = decide(order, instance, event(name), now);
      return refused.kind === "refused" ? refused.blockers.map((one) => one.kind) : "decided";
    };
    expect(kind(open, "lost")).toEqual(["no_edge"]);
    expect(kind(open, "vanish")).toEqual(["unknown_event"]);
    expect(kind(open, "__proto__")).toEqual(["unknown_event"]);
    expect(kind(follow(order, open, event("pay", { sum: 60 })), "lost")).toEqual(["closed"]);
  });

  test("without a target the instance stays, and its visit, its task and its timers go on", () => {
    const stayed = decided(decide(order, open, event("remind"), now));
    expect(stayed).toMatchObject({ to: "open", leaves: false, endsTask: false, step: null, timers: [] });
    expect(stayed.instance).toMatchObject({ version: 2, visit: 1 });
  });

  test("to its own name an instance enters its state anew", () => {
    const again = decided(decide(order, open, event("reopen"), now));
    expect(again).toMatchObject({ to: "open", leaves: true, timers: [{ event: "remind", afterMs: 86_400_000 }] });
    expect(again.instance).toMatchObject({ version: 2, visit: 2 });
  });

  test("timers depend on the data, and one that is not wanted is none", () => {
    expect(start(order, { amount: 500 }).timers.map((timer) => [timer.kind, timer.event, timer.afterMs])).toEqual([
      ["deadline", "fail", 20 * 86_400_000],
      ["timeout", "remind", 86_400_000],
      ["timeout", "fail", 7 * 86_400_000],
    ]);
    expect(start(order, { amount: 5 }).timers).toHaveLength(2);
  });

  test("a field set to undefined is removed, and the journal can tell it", () => {
    const noted = decided(decide(order, open, event("annotate", { note: "x" }), now));
    expect(noted).toMatchObject({ patch: { note: "x" }, cleared: null });
    const cleared = decided(decide(order, noted.instance, event("annotate", {}), now));
    expect(cleared).toMatchObject({ patch: null, cleared: ["note"], instance: { data: { amount: 50 } } });
  });

  test("what a step set is there for the guard and the set of its outcome, and the later one wins", () => {
    const paid = decided(
      decide(order, open, event("pay", { sum: 10 }, { patch: { amount: 5, paid: 1, note: "x" } }), now),
    );
    expect(paid).toMatchObject({ to: "paid", patch: { amount: 5, paid: 10, note: "x" } });
  });

  test("a guard or set that breaks its word is its author's to mend, and says where it stands", () => {
    const code = (edge: Record<string, unknown>) => {
      const model = withEdge(edge);
      return codeOf(() => decide(model, start(model).instance, event("go"), now));
    };
    expect(code({ guard: oops })).toBe("guard_failed");
    expect(code({ guard: async () => true })).toBe("guard_failed");
    expect(code({ guard: () => Promise.reject(new Error("late")) })).toBe("guard_failed");
    expect(code({ set: oops })).toBe("set_failed");
    expect(code({ set: () => Promise.reject(new Error("late")) })).toBe("set_failed");
    for (const rubbish of [undefined, null, 5, "x", [], new Map([["a", 1]]), new Date(0), () => ({})]) {
      expect(code({ set: () => rubbish })).toBe("set_failed");
    }
    expect(code({ set: () => JSON.parse('{"__proto__":{"admin":true}}') })).toBe("value_not_serializable");
    const model = withEdge({ guard: oops });
    expect(() => decide(model, start(model).instance, event("go"), now)).toThrow(
      "The guard of `go` in `a` threw: oops.",
    );
  });

  test("a guard's reason can always be recorded", () => {
    const model = buildLifecycle("strict", {
      initial: "a",
      states: {
        a: { forever: true, on: { go: { to: "b", guard: ({ data }: Context) => data.reason } } },
        b: { final: "success" },
      },
      data: z.object({ reason: z.any() }),
    });
    const reason = (given: unknown) => {
      const refused = decide(
        model,
        { ...start(model, { reason: "" }).instance, data: { reason: given } },
        event("go"),
        now,
      );
      return refused.kind === "refused" ? refused.blockers[0]!.reason : "decided";
    };
    expect(reason("a\u0000b\ud800")).toBe("a\ufffdb\ufffd");
    expect(reason("x".repeat(10_000))).toHaveLength(501);
    for (const rubbish of [false, undefined, null, 0, "", {}])
      expect(reason(rubbish)).toBe("the guard of `go` in `a` refuses");
  });

  test("a length of time that the author's function gets wrong is the author's to mend", () => {
    for (const after of [
      () => "soon",
      () => -1,
      () => undefined,
      () => Promise.reject(new Error("x")),
      () => Object.create(null).x.y,
    ]) {
      const model = buildLifecycle("bad", {
        initial: "a",
        states: { a: { timeout: { after, send: "go" }, on: { go: "b" } }, b: { final: "success" } },
      });
      expect(codeOf(() => start(model))).toBe("set_failed");
    }
  });

  test("data that its schema refuses starts nothing", () => {
    for (const data of [undefined, null, {}, { amount: "5" }, [], "x", 5]) {
      expect(codeOf(() => start(order, data))).toBe("data_invalid");
    }
    const plain = buildLifecycle("plain", {
      initial: "a",
      states: { a: { forever: true, on: { go: "b" } }, b: { final: "success" } },
    });
    expect(start(plain, {}).instance.data).toEqual({});
    for (const data of [{ a: 1 }, new Map([[1, 2]]), new Date(0), "x"]) {
      expect(codeOf(() => start(plain, data))).toBe("data_invalid");
    }
  });

  test("a schema that answers later, or throws, is told apart from wrong data", () => {
    const later = z.object({ a: z.string().refine(async () => true) });
    expect(codeOf(() => start(withSchema(later), { a: "x" }))).toBe("schema_async");
    const throwing = {
      "~standard": {
        version: 1,
        vendor: "odd",
        validate: () => {
          throw new Error("oops");
        },
      },
    };
    expect(() => start(withSchema(throwing), { a: "x" })).toThrow(/its data cannot be checked, its schema threw: oops/);
    expect(codeOf(() => start(withSchema(throwing), { a: "x" }))).toBe("data_invalid");
    let deep: unknown = 1;
    for (let level = 0; level < 10_000; level++) deep = [deep];
    expect(() => start(withSchema(z.object({ a: z.json() })), { a: deep })).toThrow(/is nested deeper than 64 levels/);
  });
});

describe("an event with an edge of the state and one of the lifecycle", () => {
  const states: string[] = [];
  const claim = lifecycle("claim", {
    data: z.object({ paid: z.boolean().default(false) }),
    initial: "open",
    on: {
      withdraw: { to: "withdrawn", guard: ({ state }) => states.push(state) > 0 || "no" },
      noted: { set: () => ({}) },
    },
    states: {
      open: { forever: true, on: { pay: "payout" } },
      payout: {
        forever: true,
        on: {
          done: "ended",
          withdraw: [
            { to: "open", guard: () => "not any more" },
            { to: "ended", guard: ({ state, data }) => (data.paid ? true : `it is in ${state}`) },
          ],
        },
      },
      ended: { final: "success" },
      withdrawn: { final: "failure" },
    },
  });

  test("L2 is decided by the state alone: where its guards refuse, the lifecycle's edge is not tried", () => {
    const open = start(claim).instance;
    const payout = follow(claim, open, "pay");
    states.length = 0;
    expect(decide(claim, payout, event("withdraw"), now)).toMatchObject({
      kind: "refused",
      blockers: [{ reason: "not any more" }, { reason: "it is in payout" }],
    });
    expect(states).toEqual([]);
    expect(allowedEvents(claim, payout, null, now)).toContainEqual(
      expect.objectContaining({ event: "withdraw", permitted: "no" }),
    );
    expect(decided(decide(claim, open, event("withdraw"), now)).instance.state).toBe("withdrawn");
    expect(states).toEqual(["open"]);
    expect(follow(claim, payout, "noted").state).toBe("payout");
  });

  test("the database knows no move that the state's own edges replace", () => {
    const edges = claim.edges.filter((edge) => edge.from === "payout" && edge.event === "withdraw");
    expect(edges.map((edge) => edge.to)).toEqual(["open", "ended"]);
  });

  test("functions of a definition get the state: an edge the one it leaves, a timeout the one it is of", () => {
    const seen: string[] = [];
    const note = (what: string) => (context: Context) => `${seen.push(`${what} ${context.state}`)}s` as "1s";
    const timed = lifecycle("timed", {
      initial: "a",
      states: {
        a: {
          timeout: { after: note("timeout"), send: "go" },
          on: { go: { to: "b", guard: (context) => note("guard")(context).length > 0 || "no" } },
        },
        b: { timeout: { after: note("timeout"), send: "go" }, on: { go: "c" } },
        c: { final: "success" },
      },
    });
    follow(timed, start(timed).instance, "go");
    expect(seen).toEqual(["timeout a", "guard a", "timeout b"]);
  });
});

describe("the built-in events", () => {
  const doc = lifecycle("doc", {
    initial: "draft",
    deadline: { within: "1d" },
    states: {
      draft: { forever: true, on: { submit: "checking" } },
      checking: { run: () => {}, on: { ok: "review", fail: { to: "review", set: () => ({}) } }, checkpoint: "draft" },
      review: { forever: true, on: { publish: "published", redo: "review" } },
      published: { final: "success" },
      failed: { on: { patch: "review", shrug: "failed" } },
    },
  });
  const draft = start(doc).instance;
  const at = {
    draft,
    checking: follow(doc, draft, "submit"),
    review: follow(doc, draft, "submit", "ok"),
    published: follow(doc, draft, "submit", "ok", "publish"),
    failed: follow(doc, draft, "submit", "ok", "fail"),
    discarded: follow(doc, draft, "discard"),
  };
  const from = (name: string) =>
    Object.entries(at)
      .filter(([, instance]) => decide(doc, instance, event(name), now).kind === "decided")
      .map(([state]) => state);

  const told = (payload: unknown, reason: string | null = null) =>
    decided(decide(doc, at.review, event("fail", payload, { reason }), now)).payload;

  test("R27 fail leads from every open state to failed, and not from failed, discarded or an end", () => {
    expect(from("fail")).toEqual(["draft", "checking", "review"]);
    expect(at.failed).toMatchObject({ state: "failed", failedFrom: "review", failedVisit: 3, outcome: null });
  });

  test("R27 a state's own fail edge is taken instead, unless it is the deadline that fails the instance", () => {
    expect(follow(doc, at.checking, "fail").state).toBe("review");
    expect(follow(doc, at.checking, event("fail", undefined, { pastOwnFailEdge: true })).state).toBe("failed");
  });

  test("R28 restart leads from everywhere but the first state and discarded to the first state, as a new run", () => {
    expect(from("restart")).toEqual(["checking", "review", "published", "failed"]);
    const restarted = decided(decide(doc, at.published, event("restart"), now + 5_000));
    expect(restarted).toMatchObject({
      to: "draft",
      endsRun: true,
      timers: [{ kind: "deadline", afterMs: 86_400_000 }],
    });
    expect(restarted.instance).toMatchObject({ run: 2, outcome: null, deadlineAtMs: now + 5_000 + 86_400_000 });
  });

  test("R29 discard leads from everywhere but discarded to discarded, and nothing leads out of it", () => {
    expect(from("discard")).toEqual(["draft", "checking", "review", "published", "failed"]);
    expect(at.discarded).toMatchObject({ outcome: "discarded" });
    expect(doc.eventsFrom("discarded")).toEqual([]);
  });

  test("recover leads from failed alone, to the checkpoint of the state that failed or else to that state", () => {
    expect(from("recover")).toEqual(["failed"]);
    expect(follow(doc, at.failed, "recover").state).toBe("review");
    const failedWork = follow(doc, at.checking, event("fail", undefined, { pastOwnFailEdge: true }));
    expect(follow(doc, failedWork, "recover").state).toBe("draft");
  });

  test("a recovery into the state that failed goes on with that visit; into another one it is a new visit", () => {
    expect(follow(doc, at.failed, "recover")).toMatchObject({ state: "review", visit: 3, version: 5 });
    const failedWork = follow(doc, at.checking, event("fail", undefined, { pastOwnFailEdge: true }));
    expect(follow(doc, failedWork, "recover")).toMatchObject({ state: "draft", visit: 4, version: 4 });
  });

  test("what happens in failed does not make it forget where to resume", () => {
    const shrugged = follow(doc, at.failed, "shrug");
    expect(shrugged).toMatchObject({ state: "failed", failedFrom: "review", failedVisit: 3 });
    expect(follow(doc, shrugged, "recover").state).toBe("review");
  });

  test("an instance whose state is gone says so when it is to recover, and can still be restarted", () => {
    const stranded = { ...at.failed, failedFrom: "proofreading" };
    expect(decide(doc, stranded, event("recover"), now)).toEqual({
      kind: "refused",
      blockers: [
        {
          kind: "no_target",
          event: "recover",
          from: "failed",
          reason: "it failed in `proofreading`, which `doc` no longer has",
        },
      ],
    });
    expect(allowedEvents(doc, stranded, null, now).find((one) => one.event === "recover")?.permitted).toBe("no");
    expect(follow(doc, stranded, "restart").state).toBe("draft");
  });

  test("what fail tells is filled up to one shape, whoever sends it", () => {
    const nothing = { error: null, type: null, attempts: 0 };
    expect(told(undefined)).toEqual({ reason: "failed", ...nothing });
    expect(told(null, "lost in the yard")).toEqual({ reason: "lost in the yard", ...nothing });
    expect(told({ reason: "timeout" }, "deadline")).toEqual({ reason: "timeout", ...nothing });
    const worker = { reason: "attempts_used_up", error: { name: "Error", message: "x" }, attempts: 3 };
    expect(told(worker)).toEqual({ ...worker, type: "Error" });
    expect(told({ ...worker, type: "network" })).toEqual({ ...worker, type: "network" });
    expect(told({ ticket: 7 })).toEqual({ reason: "failed", ...nothing, ticket: 7 });
  });

  test("a fail edge and the hooks of fail see that shape too", () => {
    const seen: unknown[] = [];
    const model = lifecycle("seen", {
      initial: "a",
      on: { fail: { guard: ({ payload }) => seen.push(payload) > 0 || "no" } },
      states: {
        a: { forever: true, on: { go: "b", fail: { to: "b", guard: ({ payload }) => `no ${seen.push(payload)}` } } },
        b: { final: "success" },
      },
    });
    decide(model, start(model).instance, event("fail"), now);
    const filled = { reason: "failed", error: null, type: null, attempts: 0 };
    expect(seen).toEqual([filled, filled]);
  });

  test("what fail is told must be of that shape", () => {
    const wrong = [
      "x",
      5,
      [],
      new Date(0),
      { reason: 5 },
      { error: "x" },
      { error: { name: "x" } },
      { attempts: -1 },
      { attempts: "3" },
    ];
    for (const payload of wrong) {
      expect(decide(doc, at.review, event("fail", payload), now)).toMatchObject({ blockers: [{ kind: "payload" }] });
    }
  });

  test("a job has fail and restart of its own, and none of the rest", () => {
    const mail = job("mail", { run: () => {} });
    const failedJob = follow(mail, start(mail).instance, "fail");
    expect(failedJob).toMatchObject({ state: "error", outcome: "failure" });
    expect(follow(mail, failedJob, "restart")).toMatchObject({ state: "pending", run: 2, outcome: null });
    for (const name of ["recover", "discard"]) expect(decide(mail, failedJob, event(name), now).kind).toBe("refused");
  });

  test("without built-ins an event may be called recover, and is one like any other", () => {
    const plain = buildLifecycle("plain", {
      builtIns: false,
      initial: "ill",
      states: { ill: { forever: true, on: { recover: "well" } }, well: { final: "success" } },
    });
    expect(follow(plain, start(plain).instance, "recover").state).toBe("well");
  });
});

describe("a newer definition", () => {
  const older = lifecycle("post", {
    initial: "writing",
    states: {
      writing: { run: () => {}, on: { written: "waiting" } },
      waiting: { timeout: { after: "7d", send: "expire" }, on: { send: "sent", expire: "gone" } },
      sent: { final: "success" },
      gone: { final: "failure" },
    },
  });
  const newer = lifecycle("post", {
    version: 2,
    initial: "drafting",
    renamed: { writing: "drafting", waiting: "queued", gone: "expired", sent: "archive" },
    on: { note: {} },
    states: {
      drafting: { run: () => {}, on: { written: "queued" }, timeout: { after: "1h", send: "fail" } },
      queued: { timeout: { after: "1d", send: "expire" }, on: { send: "archive", expire: "expired" } },
      archive: { forever: true, on: { tidy: "tidied" } },
      tidied: { final: "success" },
      expired: { final: "success" },
    },
  });
  const writing = start(older).instance;
  const waiting = follow(older, writing, "written");

  test("a state under a new name is the same visit: its timers go on, its work is in the new lane", () => {
    const renamed = decideRename(newer, writing, now)!;
    expect(renamed).toMatchObject({ event: "rename", from: "writing", to: "drafting", leaves: false, timers: [] });
    expect(renamed).toMatchObject({ endsTask: true, step: { lane: "post@2/drafting" } });
    expect(renamed.instance).toMatchObject({ state: "drafting", definition: 2, version: 2, visit: 1 });
    expect(decideRename(newer, waiting, now)).toMatchObject({ to: "queued", leaves: false, timers: [], step: null });
  });

  test("what has its name still is not renamed", () => {
    expect(decideRename(older, writing, now)).toBeUndefined();
    expect(decideRename(newer, decideRename(newer, writing, now)!.instance, now)).toBeUndefined();
  });

  test("what has ended stays ended, as it did, under whichever name", () => {
    const gone = follow(older, waiting, "expire");
    expect(decideRename(newer, gone, now)!.instance).toMatchObject({ state: "expired", outcome: "failure" });
    expect(decideRename(newer, follow(older, waiting, "send"), now)).toBeUndefined();
  });

  test("a recovery finds the state that failed by its new name, and goes on with the visit", () => {
    const failedThere = follow(older, waiting, "fail");
    expect(follow(newer, failedThere, "recover")).toMatchObject({ state: "queued", visit: 2, definition: 2 });
  });

  test("an event that stays takes the task of an older definition over into its own lane", () => {
    const grown = lifecycle("post", {
      version: 3,
      initial: "writing",
      on: { note: {} },
      states: { writing: { run: () => {}, on: { written: "sent" } }, sent: { final: "success" } },
    });
    const noted = decided(decide(grown, writing, event("note"), now));
    expect(noted).toMatchObject({ leaves: false, endsTask: true, step: { lane: "post@3/writing" } });
    expect(noted.instance).toMatchObject({ definition: 3, visit: 1 });
    expect(decided(decide(grown, noted.instance, event("note"), now))).toMatchObject({ endsTask: false, step: null });
  });
});

function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const child of Object.values(value)) frozen(child);
  return value;
}

describe("any lifecycle, any events", () => {
  /** One state of a random lifecycle: how it is left, besides the edge to the next. */
  const states = fc.array(
    fc.record({
      works: fc.boolean(),
      timeout: fc.option(fc.integer({ min: 1, max: 1e9 }), { nil: undefined }),
      checkpointed: fc.boolean(),
      ownFail: fc.boolean(),
      edges: fc.dictionary(
        fc.constantFrom("alpha", "beta", "gamma"),
        fc.array(
          fc.record({
            /** A state by its number, itself, or a stay. */
            to: fc.oneof(fc.nat(7), fc.constantFrom("stay" as const, "failed" as const)),
            guarded: fc.boolean(),
            sets: fc.dictionary(fc.constantFrom("a", "b", "c"), fc.option(fc.integer(), { nil: undefined })),
          }),
          { minLength: 1, maxLength: 3 },
        ),
      ),
    }),
    { minLength: 1, maxLength: 6 },
  );

  type Drawn = typeof states extends fc.Arbitrary<infer T> ? T : never;

  /** States in a row, each with its drawn edges and one on to the next, so that every definition has an end. */
  function build(drawn: Drawn, version = 1): LifecycleModel {
    const name = (index: number) => (index < drawn.length ? `s${index}` : "done");
    const written = drawn.map((one, index) => {
      const on: Record<string, unknown> = { next: name(index + 1) };
      for (const [event, edges] of Object.entries(one.edges)) {
        // Only the last of a list may be without a guard.
        on[event] = edges.map((edge, place) => ({
          to: edge.to === "stay" ? undefined : edge.to === "failed" ? "failed" : name(edge.to),
          guard: edge.guarded || place < edges.length - 1 ? guard : undefined,
          set: () => edge.sets,
        }));
      }
      const checkpoint = one.checkpointed && index > 0 && !drawn[0]!.checkpointed ? "s0" : undefined;
      // With a checkpoint, some failures are left to `failed`.
      if (one.ownFail)
        on.fail = [
          { to: name(index), guard },
          { to: name(index + 1), guard: checkpoint === undefined ? undefined : guard },
        ];
      const timeout = one.timeout === undefined ? undefined : { after: one.timeout, send: "next" };
      return { ...(one.works ? { run: () => {} } : { forever: true }), on, timeout, checkpoint };
    });
    return buildLifecycle("drawn", {
      version,
      data: z.object({ a: z.number().optional(), b: z.number().optional(), c: z.number().optional() }),
      initial: "s0",
      on: { poke: { guard, set: ({ data }: Context) => ({ a: (data.a ?? 0) + 1 }) } },
      states: { ...Object.fromEntries(written.map((one, index) => [`s${index}`, one])), done: { final: "success" } },
    });
  }

  const events = fc.array(
    fc.record({
      name: fc.constantFrom(
        "next",
        "alpha",
        "beta",
        "gamma",
        "poke",
        "fail",
        "recover",
        "restart",
        "discard",
        "nothing",
      ),
      payload: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, fc.constant({ x: 1 })),
      actor: fc.constantFrom("ada", null),
      reason: fc.constant(null),
      patch: fc.option(fc.dictionary(fc.constantFrom("a", "b"), fc.integer()), { nil: undefined }),
      endsStep: fc.boolean(),
      pastOwnFailEdge: fc.boolean(),
    }),
    { maxLength: 30 },
  );

  function holds(
    property: (step: {
      instance: InstanceModel;
      event: LifecycleEvent;
      outcome: Decision | Refusal;
      model: LifecycleModel;
    }) => void,
  ) {
    fc.assert(
      fc.property(states, events, (drawn, sent) => {
        const model = build(drawn);
        for (const step of walk(model, sent)) property({ ...step, model });
      }),
      { numRuns: 200 },
    );
  }

  test("a decision changes nothing that it was made on, and the same gives the same", () => {
    holds(({ model, instance, event: sent, outcome }) => {
      const before = JSON.stringify([instance, sent]);
      const again = decide(model, frozen(structuredClone(instance)), frozen(structuredClone(sent)), now);
      expect(JSON.stringify(again)).toBe(JSON.stringify(outcome));
      expect(JSON.stringify([instance, sent])).toBe(before);
    });
  });

  test("the version rises by one with every decision, and the definition is the one that decided", () => {
    holds(({ instance, outcome }) => {
      if (outcome.kind === "refused") return;
      expect(outcome.instance.version).toBe(instance.version + 1);
      expect(outcome.instance).toMatchObject({ id: instance.id, key: instance.key, definition: 1, createdAtMs: now });
    });
  });

  test("a visit is numbered by the move that entered it; a stay and a recovery into the same state go on with theirs", () => {
    holds(({ instance, event: sent, outcome }) => {
      if (outcome.kind === "refused") return;
      const { visit, version, state } = outcome.instance;
      if (!outcome.leaves) expect(visit).toBe(instance.visit);
      else if (sent.name === "recover" && state === instance.failedFrom) expect(visit).toBe(instance.failedVisit);
      else expect(visit).toBe(version);
      expect(visit).toBeLessThanOrEqual(version);
    });
  });

  test("every decision goes over an edge that the lifecycle declares, from where the instance stood", () => {
    holds(({ model, instance, event: sent, outcome }) => {
      if (outcome.kind === "refused") return;
      expect(outcome.from).toBe(instance.state);
      expect(statesAndEdges(model)).toContainEqual({ from: instance.state, event: sent.name, to: outcome.to });
      expect(outcome.instance.state).toBe(outcome.to);
    });
  });

  test("a refused event has a blocker at least, and each says why", () => {
    holds(({ instance, outcome }) => {
      if (outcome.kind === "decided") return;
      expect(outcome.blockers.length).toBeGreaterThan(0);
      for (const blocker of outcome.blockers)
        expect(blocker).toMatchObject({ from: instance.state, reason: expect.stringMatching(/./) });
    });
  });

  test("the patch and the keys removed, applied to the old data, give the new data", () => {
    holds(({ instance, outcome }) => {
      if (outcome.kind === "refused") return;
      const data: Record<string, unknown> = { ...instance.data, ...outcome.patch };
      for (const key of outcome.cleared ?? []) delete data[key];
      expect(data).toEqual(outcome.instance.data);
      for (const key of outcome.cleared ?? []) expect(Object.keys(outcome.patch ?? {})).not.toContain(key);
    });
  });

  test("work is planned where a state that works is entered, timers where it has some, and none after the end", () => {
    holds(({ model, outcome }) => {
      if (outcome.kind === "refused") return;
      const state = model.states.get(outcome.to)!;
      if (outcome.leaves) expect(outcome.step !== null).toBe(state.kind === "work");
      if (outcome.leaves) expect(outcome.timers).toHaveLength(state.timeouts.length);
      else expect(outcome.timers).toEqual([]);
      if (outcome.instance.outcome !== null) expect(outcome).toMatchObject({ step: null, timers: [], endsRun: true });
      expect(outcome.instance.outcome === null).toBe(state.final === undefined);
    });
  });

  test("failed remembers where it failed, and nothing else does", () => {
    holds(({ outcome }) => {
      if (outcome.kind === "refused") return;
      const { state, failedFrom, failedVisit } = outcome.instance;
      expect(failedFrom === null).toBe(state !== "failed");
      expect(failedVisit === null).toBe(state !== "failed");
      expect(failedFrom).not.toBe("failed");
    });
  });

  test("what is permitted is taken, and what is not is refused for the reasons that were given", () => {
    holds(({ model, instance, event: sent }) => {
      const listed = allowedEvents(model, instance, sent.actor, now);
      expect(listed.map((one) => one.event)).toEqual(model.eventsFrom(instance.state));
      for (const permission of listed) {
        const outcome = decide(model, instance, event(permission.event, undefined, { actor: sent.actor }), now);
        if (permission.permitted === "yes") expect(outcome.kind).toBe("decided");
        if (permission.permitted === "no") expect(outcome).toEqual({ kind: "refused", blockers: permission.blockers });
        if (permission.permitted === "depends") expect(permission.event).toBe("fail");
      }
    });
  });

  test("an instance of any older definition can be taken over by the next one", () => {
    fc.assert(
      fc.property(states, events, (drawn, sent) => {
        const [older, newer] = [build(drawn), build(drawn, 2)];
        for (const { instance, event: one, outcome } of walk(older, sent)) {
          const taken = decide(newer, instance, one, now);
          expect(taken.kind).toBe(outcome.kind);
          if (taken.kind === "refused") continue;
          expect(taken.instance).toEqual({ ...decided(outcome).instance, definition: 2 });
          // Claims of workers in the old lanes no longer hold.
          expect(taken.endsTask).toBe(true);
          expect(taken.step !== null).toBe(newer.states.get(taken.to)!.kind === "work");
        }
      }),
    );
  });
});

describe("joined", () => {
  const joining = lifecycle("joining", {
    data: z.object({ failed: z.number().default(0) }),
    initial: "a",
    states: {
      a: { join: { failed: "count" }, on: { joined: { to: "b", set: ({ payload }) => ({ failed: payload.failed }) } } },
      b: { final: "success" },
    },
  });
  const counts = { total: 3, succeeded: 1, failed: 2, discarded: 0 };

  test("takes the counts, which the edge sees", () => {
    const { instance } = start(joining);
    expect(decided(decide(joining, instance, event("joined", counts), now))).toMatchObject({
      to: "b",
      payload: counts,
      instance: { data: { failed: 2 }, outcome: "success" },
    });
  });

  test("is refused without them, and takes nothing where nobody joins", () => {
    const { instance } = start(joining);
    for (const payload of [undefined, {}, { ...counts, total: "3" }, [3]]) {
      expect(decide(joining, instance, event("joined", payload), now)).toMatchObject({
        kind: "refused",
        blockers: expect.arrayContaining([expect.objectContaining({ kind: "payload" })]),
      });
    }
    const plain = lifecycle("plain", {
      initial: "a",
      states: { a: { forever: true, on: { joined: "b" } }, b: { final: "success" } },
    });
    expect(decided(decide(plain, start(plain).instance, event("joined"), now)).to).toBe("b");
  });
});

test("data that is left out is an empty object, unless the schema makes something else of nothing", () => {
  const withData = (data: z.ZodType) =>
    lifecycle("box", {
      data,
      initial: "open",
      states: { open: { forever: true, on: { shut: "shut" } }, shut: { final: "success" } },
    } as never) as unknown as LifecycleModel;
  const started = (data: z.ZodType) =>
    decideStart(withData(data), { id, key: "k", data: undefined, actor: null, reason: null }, now).instance.data;
  expect(started(z.object({}))).toEqual({});
  expect(started(z.object({ left: z.number().default(3) }))).toEqual({ left: 3 });
  expect(started(z.object({ left: z.number() }).default({ left: 7 }))).toEqual({ left: 7 });
  expect(() => started(z.object({ left: z.number() }))).toThrow(/its data left: /);
});
