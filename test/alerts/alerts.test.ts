import { once as eventOnce } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { type Alert, type AlertTarget, constant, job, lifecycle, PermanentError, TransientError } from "pawl";
import { webhookAlerts } from "pawl/webhooks";
import { expect, test } from "vitest";
import { deliverAlerts } from "../../src/alerts/deliver-alerts.ts";
import { verifyWebhook } from "../../src/outbox/brokers/webhooks/signature.ts";
import { testPawl } from "../../src/testing/test-pawl.ts";
import { attemptOn, Services, solve } from "../support/assessment.ts";
import { CapturedLog } from "../support/captured-log.ts";
import { eachStore } from "../support/each-store.ts";
import { openSecondProcess } from "../support/second-process.ts";

const once = { maxAttempts: 1, backoff: constant("1s") };
const claim = lifecycle("claim", {
  initial: "checking",
  recovery: { maxFailures: 2, after: "10m" },
  states: {
    checking: { run: async () => {}, retry: once, on: { checked: "done" } },
    done: { final: "success" },
  },
});
const email = job("email", { run: () => {}, retry: once });

/** A sink that keeps what it hears, and is deaf when it is told to be. */
function keeping(name = "kept") {
  const heard: Alert[] = [];
  const deaf: unknown[] = [];
  return {
    name,
    heard,
    deaf,
    send(alert: Alert) {
      if (deaf.length > 0) throw deaf.shift();
      heard.push(alert);
    },
  };
}

eachStore((store) => {
  async function failedClaim(...alerts: readonly AlertTarget[]) {
    const t = await store.open({ lifecycles: [claim], alerts });
    await t.pawl.start(claim, { key: "c" });
    for (const isLast of [false, true]) {
      await (await t.claim("claim/checking")).fail(new Error("no answer"));
      if (!isLast) await t.pawl.send(claim, "c", "recover");
    }
    return t;
  }

  test("R6 R7 A53 while retries remain no error alerts; the failure that uses them up alerts once, whatever its error", async () => {
    const [sink, log] = [keeping(), new CapturedLog()];
    const attempt = attemptOn(new Services());
    await using t = await store.open({ lifecycles: [attempt, solve], alerts: [sink], logger: log });
    await t.pawl.start(attempt, { key: "a", data: {} });
    await t.pawl.send(attempt, "a", "complete");
    for (const failure of [1, 2, 3]) {
      await (await t.claim("attempt/completed")).fail(new TransientError(`busy ${failure}`));
      expect(await t.deliverAlerts()).toBe(failure === 3 ? 1 : 0);
      await t.advance("10m");
      if (failure < 3) await (await t.claim("attempt/failed")).run();
    }
    const { id } = (await t.pawl.get(attempt, "a"))!;
    const [letter] = await t.pawl.deadLetters.list({ lifecycle: attempt });
    const details = {
      reason: "recovery_exhausted",
      state: "completed",
      failures: 3,
      maxFailures: 3,
      history: [
        { state: "completed", error: "TransientError: busy 1" },
        { state: "completed", error: "TransientError: busy 2" },
        { state: "completed", error: "TransientError: busy 3" },
      ],
    };
    const message = 'attempt "a" failed in completed for good: recovery exhausted; TransientError: busy 3.';
    expect(sink.heard).toMatchObject([
      { kind: "instance_failed", lifecycle: "attempt", instanceId: id, key: "a", message, details },
    ]);
    expect(sink.heard[0]!.details.deadLetter).toBe(letter!.id);
    const logged = log.lines.filter((one) => one.message.endsWith(message));
    expect(logged).toMatchObject([{ level: "error", fields: details }]);
    await t.advance("1d");
    expect(await t.deliverAlerts()).toBe(0);
  });

  test("R6 R7 A53 an error of any other class alerts just so, and what is said of an instance that was processed never", async () => {
    const [sink, log] = [keeping(), new CapturedLog()];
    const attempt = attemptOn(new Services());
    const twice = lifecycle("twice", {
      initial: "checking",
      states: {
        checking: { run: async () => {}, retry: { ...once, maxAttempts: 2 }, on: { checked: "done" } },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [attempt, solve, twice], alerts: [sink], logger: log });
    await t.pawl.start(attempt, { key: "a", data: {} });
    await t.pawl.send(attempt, "a", "complete");
    for (const failure of [1, 2, 3]) {
      await (await t.claim("attempt/completed")).fail(new TypeError(`broken ${failure}`));
      expect(await t.deliverAlerts()).toBe(failure === 3 ? 1 : 0);
      // The error is raised to the log of the worker that met it, each time.
      const raised = log.lines.filter(
        ({ fields }) => (fields.err as { message?: string })?.message === `broken ${failure}`,
      );
      expect(raised).toMatchObject([{ level: failure === 3 ? "error" : "warn" }]);
      await t.advance("10m");
      if (failure < 3) await (await t.claim("attempt/failed")).run();
    }
    await t.pawl.start(twice, { key: "processed" });
    const slow = await t.claim("twice/checking");
    await t.advance("31s"); // Its lease ends, and another worker is done first.
    await (await t.claim("twice/checking")).report("checked");
    await expect(slow.fail(new Error("too late"))).rejects.toMatchObject({ code: "lease_lost" });
    expect(await t.pawl.get(twice, "processed")).toMatchObject({ state: "done", failure: null });
    expect(await t.deliverAlerts()).toBe(0);
    expect(sink.heard).toHaveLength(1);
  });

  test("R11 the last failure schedules nothing: what was processed and how it failed is logged as an error", async () => {
    const log = new CapturedLog();
    const attempt = attemptOn(new Services());
    await using t = await store.open({ lifecycles: [attempt, solve], logger: log });
    await t.pawl.start(attempt, { key: "a", data: {} });
    await t.pawl.send(attempt, "a", "complete");
    const tasks = () => t.db.rows({ text: "select lane from pawl.tasks", values: [], name: "" });
    const given = () => log.lines.filter((one) => one.level === "error" && one.fields?.reason === "recovery_exhausted");
    for (const failure of [1, 2, 3]) {
      await (await t.claim("attempt/completed")).fail(new Error(`broken ${failure}`));
      expect([(await tasks()).length, given().length]).toEqual(failure === 3 ? [0, 1] : [1, 0]);
      await t.advance("10m");
      if (failure < 3) await (await t.claim("attempt/failed")).run();
    }
    const history = [1, 2, 3].map((failure) => ({ state: "completed", error: `Error: broken ${failure}` }));
    expect(given()[0]!.fields).toMatchObject({
      channel: "state-machine-errors",
      lifecycle: "attempt",
      key: "a",
      state: "completed",
      failures: 3,
      maxFailures: 3,
      history,
    });
    expect(given()[0]!.message).toContain("Max retries exceeded for failed attempt processing");
  });

  test("R26 A53 a transient error is retried without an alert, others are logged; the attempt that uses up the budget alerts once", async () => {
    const [sink, log] = [keeping(), new CapturedLog()];
    const patient = lifecycle("patient", {
      initial: "a",
      states: {
        a: { run: async () => {}, retry: { maxAttempts: 2, backoff: constant("1s") }, on: { x: "b" } },
        b: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [patient], alerts: [sink], logger: log });
    for (const [key, error] of [
      ["transient", new TransientError("busy")],
      ["other", new Error("no answer")],
      ["permanent", new PermanentError("no such thing")],
    ] as const) {
      await t.pawl.start(patient, { key });
      await (await t.claim("patient/a")).fail(error);
      expect(log.lines.at(-1)!.fields.err, key).toMatchObject({ type: error.name, message: error.message });
      expect(await t.deliverAlerts(), key).toBe(key === "permanent" ? 1 : 0);
      if (key === "permanent") continue;
      await t.advance("1s");
      await (await t.claim("patient/a")).fail(error);
      expect(await t.deliverAlerts(), key).toBe(1);
    }
    // An error of the configuration is raised to whoever made the call, and fails nothing.
    await t.pawl.start(patient, { key: "called" });
    await expect(t.pawl.send(patient, "called", "y" as never)).rejects.toMatchObject({ code: "event_unknown" });
    expect(await t.pawl.get(patient, "called")).toMatchObject({ state: "a", version: 1 });
    expect(await t.deliverAlerts()).toBe(0);
  });

  test("R7 a job that is given up is told of; an after-effect is a dead letter only, since its instance has gone on", async () => {
    const sink = keeping();
    const paid = lifecycle("paid", {
      initial: "a",
      states: { a: { forever: true, on: { pay: { to: "b", after: () => {} } } }, b: { final: "success" } },
    });
    await using t = await store.open({ lifecycles: [email, paid], alerts: [sink] });
    await t.pawl.enqueue(email, undefined, { key: "e" });
    await (await t.claim("email/pending")).fail(new Error("no network"));
    await t.pawl.start(paid, { key: "p" });
    await t.pawl.send(paid, "p", "pay");
    await (await t.claim("paid:after")).giveUp("no stamps");
    await t.deliverAlerts();
    expect(sink.heard).toMatchObject([{ kind: "instance_failed", lifecycle: "email", key: "e" }]);
    expect(await t.pawl.deadLetters.list()).toHaveLength(2);
  });

  test("a recovery that is refused is told of, once", async () => {
    const sink = keeping();
    const attempt = attemptOn(new Services());
    await using t = await store.open({ lifecycles: [attempt, solve], alerts: [sink] });
    await t.pawl.start(attempt, { key: "a", data: { finished: false } });
    await t.pawl.send(attempt, "a", "fail");
    await t.advance("10m");
    await t.work();
    await t.deliverAlerts();
    expect(sink.heard).toMatchObject([
      { kind: "recovery_failed", key: "a", message: expect.stringContaining("the candidate is still working") },
    ]);
  });

  test("a sink that fails is told again later, and only that one; what it will never hear is not said again", async () => {
    const [good, bad] = [keeping("good"), keeping("bad")];
    await using t = await failedClaim(good, bad);
    bad.deaf.push(new Error("line busy"), new TransientError("still busy"));
    expect(await t.deliverAlerts()).toBe(1);
    expect([good.heard.length, bad.heard.length]).toEqual([1, 0]);
    expect(await t.deliverAlerts()).toBe(0);
    await t.advance("6s");
    expect(await t.deliverAlerts()).toBe(1);
    await t.advance("12s");
    expect(await t.deliverAlerts()).toBe(1);
    expect([good.heard.length, bad.heard.length]).toEqual([1, 1]);
    expect(bad.heard[0]).toEqual(good.heard[0]);
    await t.advance("1d");
    expect(await t.deliverAlerts()).toBe(0);

    const never = keeping("never");
    never.deaf.push(new PermanentError("no such number"), new Error("not reached"));
    await using other = await failedClaim(never);
    expect(await other.deliverAlerts()).toBe(1);
    await other.advance("1d");
    expect([await other.deliverAlerts(), never.heard.length]).toEqual([0, 0]);
  });

  test("sinks of another process get an alert, too, and one that is gone for a day is not waited for", async () => {
    const [here, there, gone] = [keeping("here"), keeping("there"), keeping("gone")];
    await using t = await store.open({ lifecycles: [claim] });
    await using other = await openSecondProcess(t, [claim]);
    for (const sink of [here, there, gone]) await deliverAlerts(t.kernel, [sink]);
    await t.pawl.start(claim, { key: "c" });
    for (const isLast of [false, true]) {
      await (await t.claim("claim/checking")).fail(new Error("no answer"));
      if (!isLast) await t.pawl.send(claim, "c", "recover");
    }
    expect(await deliverAlerts(t.kernel, [here])).toBe(1);
    expect(await deliverAlerts(t.kernel, [here])).toBe(0);
    there.deaf.push(new Error("line busy"));
    expect(await deliverAlerts(other.kernel, [there])).toBe(1);
    await t.advance("13s");
    expect(await deliverAlerts(other.kernel, [there])).toBe(1);
    expect([here.heard.length, there.heard.length]).toEqual([1, 1]);
    const open = async () =>
      (await t.db.rows({ text: "select id from pawl.alerts where due_at is not null", values: [], name: "" })).length;
    expect(await open()).toBe(1);
    await t.advance("2d");
    await deliverAlerts(t.kernel, [here]);
    await deliverAlerts(other.kernel, [there]);
    await deliverAlerts(t.kernel, [here]);
    expect([await open(), here.heard.length, there.heard.length]).toEqual([0, 1, 1]);
  });

  test("of many processes one tells an alert, and where it dies over it another one does", async () => {
    const sink = keeping();
    await using t = await failedClaim();
    await using other = await openSecondProcess(t, [claim]);
    const sinks = [sink];
    await Promise.all([t, other, t, other].map((one) => deliverAlerts(one.kernel, sinks)));
    expect(sink.heard).toHaveLength(1);
    await t.db.script("update pawl.alerts set due_at = now, told = '{}' from pawl.test_clock");
    let wake: (value?: unknown) => void = () => {};
    const silent = { name: "kept", send: () => new Promise((resolve) => (wake = resolve)) };
    const dead = deliverAlerts(t.kernel, [silent]);
    while (
      (await t.db.rows<{ n: number }>({ text: "select attempts as n from pawl.alerts", values: [], name: "" }))[0]!.n <
      2
    );
    expect(await deliverAlerts(other.kernel, sinks)).toBe(0);
    await t.advance("3m");
    expect(await deliverAlerts(other.kernel, sinks)).toBe(1);
    expect(sink.heard[1]).toEqual(sink.heard[0]);
    wake(); // It was not dead after all: what it has to say no longer counts.
    await dead;
    expect(await deliverAlerts(other.kernel, sinks)).toBe(0);
  });

  test("a step and a definition that are at odds are told of once; nothing fails, no attempt is spent, and a mended one goes on", async () => {
    const sink = keeping();
    const make = (event: string, guard = () => true as const) =>
      lifecycle("odd", {
        initial: "a",
        recovery: {},
        states: {
          a: { run: (step) => step.go(event as "x"), retry: once, on: { x: { to: "b", guard } } },
          b: { final: "success" },
        },
      });
    const odd = make("y");
    await using t = await store.open({ lifecycles: [odd], alerts: [sink] });
    for (const key of ["one", "two"]) await t.pawl.start(odd, { key });
    for (const _ of [1, 2, 3]) {
      await t.work();
      await t.advance("10m");
      await t.deliverAlerts();
    }
    expect(await t.pawl.get(odd, "one")).toMatchObject({ state: "a", version: 1 });
    expect(sink.heard).toMatchObject([
      {
        kind: "definition_faulty",
        lifecycle: "odd",
        instanceId: null,
        details: { state: "a", version: 1, code: "event_unknown" },
      },
    ]);
    const history = await t.pawl.history(odd, "one");
    expect(history.filter((one) => one.kind === "attempt" && one.what === "claimed")).toMatchObject(
      [1, 2, 3].map(() => ({ attempt: 1 })),
    );
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    await using next = await openSecondProcess(t, [make("x")]);
    await next.advance("10m");
    await next.work();
    expect(await next.pawl.inspect.counts(next.pawl.lifecycles[0]!)).toMatchObject({ b: 2 });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a worker tells alerts beside its steps", async () => {
    let hear: (alert: Alert) => void = () => {};
    const told = new Promise<Alert>((resolve) => {
      hear = resolve;
    });
    await using t = await failedClaim((alert: Alert) => hear(alert));
    const worker = t.pawl.work();
    expect(await told).toMatchObject({ kind: "instance_failed", key: "c" });
    await worker.stop();
    await t.pawl.close();
  });
});

test("a webhook is posted with the alert, signed, and has the same id when it is told again", async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const posts: { headers: IncomingHttpHeaders; body: string }[] = [];
  const answers = [500, 200];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => {
      body += piece.toString();
    });
    request.on("end", () => {
      posts.push({ headers: request.headers, body });
      response.writeHead(answers.shift() ?? 500).end();
    });
  }).listen(0, "127.0.0.1");
  await eventOnce(server, "listening");
  const { port } = server.address() as AddressInfo;
  const inside = { allowHttp: true, ports: [port], allowedNetworks: ["127.0.0.1"] };
  const sink = webhookAlerts({ url: `http://127.0.0.1:${port}/pawl`, secrets: [secret], ...inside });
  await using t = await testPawl({ lifecycles: [email], alerts: [sink] });
  await t.pawl.enqueue(email, undefined, { key: "e" });
  await (await t.claim("email/pending")).fail(new Error("no network"));
  await t.deliverAlerts();
  await t.advance("6s");
  await t.deliverAlerts();
  expect(posts).toHaveLength(2);
  const [first, second] = posts;
  expect(second!.headers["webhook-id"]).toBe(first!.headers["webhook-id"]);
  expect(JSON.parse(second!.body)).toMatchObject({
    type: "pawl.alert",
    data: { kind: "instance_failed", lifecycle: "email", key: "e", details: { reason: "attempts_used_up" } },
  });
  for (const { headers, body } of posts) {
    expect(verifyWebhook({ headers: headers as never, body, nowMs: Date.now() }, [secret])).toBeUndefined();
  }
  await sink.close!();
  server.close();
});
