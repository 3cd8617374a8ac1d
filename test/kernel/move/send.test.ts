import { isPawlError, lifecycle } from "pawl";
import { expect, test } from "vitest";
import { eachStoreAndPooler } from "../../support/each-store.ts";
import { parcel } from "../../support/parcel.ts";

const address = "Elm 3";

eachStoreAndPooler((store) => {
  async function packed() {
    const t = await store.open({ lifecycles: [parcel] });
    await t.pawl.start(parcel, { key: "p", data: { address } });
    await t.work();
    return t;
  }

  test("an event moves an instance, sets its data, and is in the journal with its actor", async () => {
    await using t = await packed();
    const moved = await t.pawl.send(parcel, "p", "weighed", { weight: 4 }, { actor: "ada", reason: "scale 2" });
    expect(moved).toMatchObject({ state: "shipped", version: 3, data: { address, label: "L-Elm 3", weight: 4 } });
    expect(await t.pawl.get(parcel, { id: moved.id })).toEqual(moved);
    expect((await t.pawl.journal(parcel, "p")).at(-1)).toEqual({
      kind: "move",
      version: 3,
      event: "weighed",
      from: "packed",
      to: "shipped",
      at: t.now(),
      source: "call",
      actor: "ada",
      reason: "scale 2",
      payload: { weight: 4 },
      patch: { weight: 4 },
      cleared: null,
      definition: 1,
    });
  });

  test("a refused event changes nothing and names every blocker", async () => {
    await using t = await packed();
    const refused = await t.pawl.trySend(parcel, "p", "weighed", { weight: -1 });
    expect(refused).toMatchObject({
      ok: false,
      error: {
        code: "transition_refused",
        details: {
          blockers: [
            { kind: "guard", from: "packed", to: "rejected", reason: "it is not too heavy" },
            { kind: "guard", from: "packed", to: "shipped", reason: "a parcel weighs something" },
          ],
        },
      },
    });
    await expect(t.pawl.send(parcel, "p", "delivered")).rejects.toThrow(
      "`delivered` is not allowed in `packed`; it is allowed in `shipped`",
    );
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "packed", version: 2 });
  });

  test("eight conflicting events at once make exactly one path, and the losers are told why", async () => {
    await using t = await packed();
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        index % 2 === 0
          ? t.pawl.trySend(parcel, "p", "weighed", { weight: index + 1 })
          : t.pawl
              .sendMany(parcel, [{ to: "p", event: "weighed", payload: { weight: index + 1 } }])
              .then(([one]) => one!),
      ),
    );
    const [winner, ...others] = results.filter((one) => one.ok);
    expect(others).toEqual([]);
    const losers = results.filter((one) => !one.ok);
    expect(losers).toHaveLength(7);
    for (const loser of losers) expect(loser).toMatchObject({ error: { code: "transition_refused" } });
    const journal = await t.pawl.journal(parcel, "p");
    expect(journal.map((move) => move.version)).toEqual([1, 2, 3]);
    expect(await t.pawl.get(parcel, "p")).toMatchObject({
      state: "shipped",
      data: { weight: winner!.ok && winner!.instance.data.weight },
    });
  });

  test("events that stay are all counted, whoever sends them at the same time", async () => {
    await using t = await packed();
    const sends = Array.from({ length: 60 }, () => t.pawl.send(parcel, "p", "noted"));
    const versions = (await Promise.all(sends)).map((one) => one.version);
    expect(new Set(versions).size).toBe(60);
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "packed", version: 62, data: { notes: 60 } });
    expect((await t.pawl.journal(parcel, "p")).map((move) => move.version)).toEqual(
      versions.length === 60 ? Array.from({ length: 62 }, (_, i) => i + 1) : [],
    );
  });

  test("an event that stays does not spoil the step under way", async () => {
    await using t = await store.open({ lifecycles: [parcel] });
    await t.pawl.start(parcel, { key: "p", data: { address } });
    const worker = await t.claim("parcel/labeling");
    await t.pawl.send(parcel, "p", "noted");
    await worker.report("labeled", undefined, { set: { label: "x" } });
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "packed", data: { notes: 1, label: "x" } });
  });

  test("expectedVersion refuses what was decided on older ground", async () => {
    await using t = await packed();
    await t.pawl.send(parcel, "p", "noted", { expectedVersion: 2 });
    await expect(t.pawl.send(parcel, "p", "noted", { expectedVersion: 2 })).rejects.toMatchObject({
      code: "version_conflict",
      details: { expected: 2, actual: 3 },
    });
  });

  test("an idempotency key gives the first answer again, and refuses another question", async () => {
    await using t = await packed();
    const idempotencyKey = "scale-17";
    const first = await t.pawl.send(parcel, "p", "weighed", { weight: 4 }, { idempotencyKey });
    await t.pawl.send(parcel, "p", "delivered");
    const again = await t.pawl.send(parcel, "p", "weighed", { weight: 4 }, { idempotencyKey });
    expect(again).toMatchObject({ state: "shipped", version: first.version, data: first.data });
    const other = t.pawl.send(parcel, "p", "weighed", { weight: 5 }, { idempotencyKey });
    await expect(other).rejects.toMatchObject({ code: "idempotency_conflict" });
    expect(await t.pawl.journal(parcel, "p")).toHaveLength(4);
  });

  test("fifty equal requests at once have one effect and one answer", async () => {
    await using t = await packed();
    const ask = () => t.pawl.send(parcel, "p", "weighed", { weight: 4 }, { idempotencyKey: "k" });
    const answers = await Promise.all(Array.from({ length: 50 }, ask));
    expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(await t.pawl.journal(parcel, "p")).toHaveLength(3);
  });

  test("R3 any event can be sent later: it is kept, and comes at its time", async () => {
    await using t = await packed();
    await t.pawl.send(parcel, "p", "weighed", { weight: 4 }, { after: "2h", actor: "ada" });
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "packed", version: 2 });
    await t.advance("119m");
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "packed" });
    await t.advance("1m");
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "shipped", data: { weight: 4 } });
    expect((await t.pawl.journal(parcel, "p")).at(-1)).toMatchObject({
      source: "timer",
      actor: "ada",
      payload: { weight: 4 },
    });
  });

  test("R27 an instance can be failed later, too, with the reason that was given", async () => {
    await using t = await packed();
    await t.pawl.send(parcel, "p", "fail", { reason: "nobody came" }, { after: "1h" });
    await t.advance("1h");
    const last = (await t.pawl.journal(parcel, "p")).at(-1);
    expect(last).toMatchObject({
      event: "fail",
      to: "failed",
      payload: { reason: "nobody came", error: null, attempts: 0 },
    });
  });

  test("a delayed event that is refused when due is recorded with its blockers and dropped", async () => {
    await using t = await packed();
    await t.pawl.send(parcel, "p", "delivered", { after: "1h" });
    await t.advance("1h");
    const history = await t.pawl.history(parcel, "p");
    expect(history.at(-1)).toMatchObject({
      kind: "attempt",
      what: "refused",
      detail: { event: "delivered", blockers: [{ kind: "no_edge" }] },
    });
    await t.pawl.send(parcel, "p", "weighed", { weight: 1 });
    await t.advance("10d");
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "shipped" });
  });

  test("what is due comes first, also when no sweeper ran", async () => {
    await using t = await packed();
    await t.db.script("update pawl.test_clock set now = now + interval '8 days'");
    await expect(t.pawl.send(parcel, "p", "weighed", { weight: 1 })).rejects.toMatchObject({
      code: "transition_refused",
    });
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "failed" });
    expect((await t.pawl.journal(parcel, "p")).at(-1)).toMatchObject({
      event: "fail",
      source: "timer",
      from: "packed",
    });
  });

  test("entering a state anew begins its time anew, and a stay does not", async () => {
    await using t = await packed();
    await t.advance("6d");
    await t.pawl.send(parcel, "p", "noted");
    await t.pawl.send(parcel, "p", "repack");
    await t.advance("6d");
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "packed" });
    await t.pawl.send(parcel, "p", "noted");
    await t.advance("1d");
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "failed" });
  });

  test("thousands of sends are answered in their order, each for itself", async () => {
    await using t = await store.open({ lifecycles: [parcel] });
    const made = await t.pawl.startMany(
      parcel,
      Array.from({ length: 700 }, (_, index) => ({ key: `k${index}`, data: { address } })),
    );
    await t.work();
    const sent = await t.pawl.sendMany(
      parcel,
      made.map((one, index) => ({
        to: { id: one.id },
        event: "weighed" as const,
        payload: { weight: index % 2 === 0 ? 4 : 0 },
      })),
    );
    expect(sent.map((one) => one.ok)).toEqual(made.map((_, index) => index % 2 === 0));
    expect(await t.pawl.inspect.counts(parcel)).toEqual({ packed: 350, shipped: 350 });
  });

  test("find gives the newest first, by state, page by page", async () => {
    await using t = await store.open({ lifecycles: [parcel] });
    const made = await t.pawl.startMany(
      parcel,
      Array.from({ length: 30 }, () => ({ data: { address } })),
    );
    expect(await t.pawl.list(parcel, { state: "labeling", limit: 1000 })).toHaveLength(30);
    await t.work();
    await t.pawl.send(parcel, { id: made[3]!.id }, "weighed", { weight: 1 });
    const first = await t.pawl.list(parcel, { state: "packed", limit: 20 });
    const second = await t.pawl.list(parcel, { state: ["packed", "shipped"], limit: 20, after: first.at(-1)! });
    const ids = [...first, ...second].map((one) => one.id);
    expect(ids).toEqual(made.map((one) => one.id).reverse());
    expect(await t.pawl.list(parcel)).toHaveLength(30);
  });

  test("wait ends when the state is reached, and says so when it never will be", async () => {
    await using t = await packed();
    const waiting = t.pawl.wait(parcel, "p", { until: "shipped" });
    await t.pawl.send(parcel, "p", "weighed", { weight: 1 });
    expect(await waiting).toMatchObject({ state: "shipped" });
    await t.pawl.send(parcel, "p", "delivered");
    expect(await t.pawl.wait(parcel, "p")).toMatchObject({ state: "done", outcome: "success" });
    await expect(t.pawl.wait(parcel, "p", { until: "packed" })).rejects.toMatchObject({
      code: "wait_ended_in_other_state",
    });
    await t.pawl.start(parcel, { key: "q", data: { address } });
    await expect(t.pawl.wait(parcel, "q", { until: "packed", timeout: 1 })).rejects.toMatchObject({
      code: "wait_timeout",
    });
  });

  test("R20 permitted tells yes, no with every reason, or that it depends on the payload", async () => {
    const door = lifecycle("door", {
      initial: "shut",
      states: {
        shut: {
          forever: true,
          on: { open: { to: "open", guard: ({ actor }) => actor === "ada" || "only Ada has a key" }, paint: {} },
        },
        open: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [door, parcel] });
    await t.pawl.start(door, { key: "front" });
    expect(await t.pawl.allowedEvents(door, "front", { actor: "bob" })).toMatchObject([
      { event: "open", permitted: "no", blockers: [{ reason: "only Ada has a key" }] },
      { event: "paint", permitted: "yes" },
      { event: "fail", permitted: "yes" },
      { event: "discard", permitted: "yes" },
    ]);
    expect((await t.pawl.allowedEvents(door, "front", { actor: "ada" }))[0]).toEqual({
      event: "open",
      permitted: "yes",
    });
    await t.pawl.start(parcel, { key: "p", data: { address } });
    await t.work();
    expect(await t.pawl.allowedEvents(parcel, "p")).toContainEqual({ event: "weighed", permitted: "depends" });
  });

  test("R27 fail leads from any open state to failed, and not from failed, discarded or an end", async () => {
    await using t = await packed();
    await t.pawl.send(parcel, "p", "fail", undefined, { reason: "lost in the yard", actor: "ada" });
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "failed", outcome: null });
    await expect(t.pawl.send(parcel, "p", "fail")).rejects.toMatchObject({ code: "transition_refused" });
    await t.pawl.send(parcel, "p", "recover");
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "packed" });
  });

  test("R28 restart leads from anywhere but the first state and discarded back to the first state", async () => {
    await using t = await packed();
    await t.pawl.send(parcel, "p", "weighed", { weight: 1 });
    await t.pawl.send(parcel, "p", "delivered");
    await t.pawl.send(parcel, "p", "restart", { reason: "sent to the wrong Elm" });
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "labeling", outcome: null, closedAt: null });
    await expect(t.pawl.send(parcel, "p", "restart")).rejects.toMatchObject({ code: "transition_refused" });
    expect(await t.work()).toBe(1);
  });

  test("R29 discard leads from anywhere to discarded, for good", async () => {
    await using t = await packed();
    await t.pawl.send(parcel, "p", "weighed", { weight: 1 }, { after: "1h" });
    await t.pawl.send(parcel, "p", "discard", { reason: "empty" });
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "discarded", outcome: "discarded" });
    for (const event of ["restart", "discard", "recover", "fail"] as const) {
      const refused = await t.pawl.trySend(parcel, "p", event);
      expect(!refused.ok && isPawlError(refused.error, "transition_refused")).toBe(true);
    }
    await t.advance("2h");
    expect(await t.pawl.journal(parcel, "p")).toHaveLength(3);
  });
});
