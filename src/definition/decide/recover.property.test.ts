import fc from "fast-check";
import { expect, test } from "vitest";
import { failed, type LifecycleModel } from "../model.ts";
import { buildLifecycle } from "../read/build.ts";
import { decide, decideStart } from "./decide.ts";
import type { InstanceModel } from "./instance.ts";
import { afterFailure, countedFailures, type PastFailure, planRecovery } from "./recover.ts";

const nowMs = Date.UTC(2030, 0, 1);
const nobody = { actor: null, reason: null };

/** A row of states, each of some kind, some of which fall back to an earlier one. */
const pipelines = fc.record({
  states: fc.array(
    fc.record({ kind: fc.constantFrom("work", "park", "wait"), back: fc.option(fc.nat(9), { nil: undefined }) }),
    { minLength: 1, maxLength: 10 },
  ),
  maxFailures: fc.integer({ min: 1, max: 4 }),
  scope: fc.constantFrom("restart", "state", "lifetime"),
});

type Pipeline = typeof pipelines extends fc.Arbitrary<infer T> ? T : never;

function build({ states, maxFailures, scope }: Pipeline): LifecycleModel {
  const name = (at: number) => (at < states.length ? `s${at}` : "done");
  // A checkpoint is earlier, and has none of its own.
  const backOf = (at: number): number | undefined => {
    const back = states[at]!.back;
    return back === undefined || back >= at || backOf(back) !== undefined ? undefined : back;
  };
  const written = states.map(({ kind }, at) => {
    const back = backOf(at);
    const rest = { on: { next: name(at + 1) }, checkpoint: back === undefined ? undefined : name(back) };
    if (kind === "work") return { run: () => {}, ...rest };
    if (kind === "park") return { release: { interval: "1m", limit: 1, send: "next" }, ...rest };
    const isTarget = back === undefined || states.some((_, other) => backOf(other) === at);
    return { forever: true, ...rest, recoverWith: isTarget ? "next" : undefined };
  });
  return buildLifecycle("pipeline", {
    initial: "s0",
    recovery: { maxFailures, scope, fallback: "again" },
    states: {
      ...Object.fromEntries(written.map((one, at) => [name(at), one])),
      done: { final: "success" },
      failed: { on: { again: "s0" } },
    },
  });
}

/** One run of an instance, which fails wherever the script says so; after the end of the script everything succeeds. */
function live(model: LifecycleModel, script: readonly boolean[]): { moves: PastFailure[]; instance: InstanceModel } {
  let { instance } = decideStart(model, { id: "i", key: null, data: {}, ...nobody }, nowMs);
  const moves: PastFailure[] = [];
  const made = (decisions: readonly { event: string; from: string | null; to: string; instance: InstanceModel }[]) => {
    for (const one of decisions) {
      moves.push({ version: one.instance.version, event: one.event, from: one.from, to: one.to });
      instance = one.instance;
    }
  };
  for (let turn = 0; instance.outcome === null; turn++) {
    if (turn > 2_000) throw new Error("It does not end.");
    const name = script[turn] === true ? "fail" : "next";
    const decided = decide(model, instance, { name, payload: undefined, ...nobody }, nowMs);
    if (decided.kind === "refused") throw new Error(decided.blockers[0]!.reason);
    made([decided]);
    if (name === "next") continue;
    const failures = countedFailures(model, moves, decided.from!).length;
    if (afterFailure(model, { failures, nowMs, deadlineAtMs: null }).kind === "give_up") break;
    const plan = planRecovery(model, instance, nobody, nowMs);
    if (plan.kind === "refused") throw new Error(plan.blockers[0]!.reason);
    made(plan.decisions);
  }
  return { moves, instance };
}

const lives = fc.tuple(pipelines, fc.array(fc.boolean(), { maxLength: 200 }));

test("R24 a recovery falls back by one checkpoint at most, whatever the pipeline and wherever it fails", () => {
  fc.assert(
    fc.property(lives, ([pipeline, script]) => {
      const model = build(pipeline);
      const rank = (state: string) => model.states.get(state)!.rank;
      const { moves } = live(model, script);
      for (const [at, move] of moves.entries()) {
        if (move.event !== "recover") continue;
        const failing = moves[at - 1]!;
        const { checkpoint } = model.states.get(failing.from!)!;
        expect(move.to).toBe(checkpoint ?? failing.from);
        expect(rank(move.to)).toBeLessThanOrEqual(rank(failing.from!));
        expect(model.states.get(move.to)!.checkpoint).toBeUndefined();
      }
    }),
    { numRuns: 500 },
  );
});

test("R24 every life ends: done, or failed when its budget is used up, also with a budget for each state", () => {
  fc.assert(
    fc.property(pipelines, fc.array(fc.boolean(), { maxLength: 300 }), fc.boolean(), (pipeline, some, always) => {
      const model = build(pipeline);
      const script = always ? Array.from({ length: 2_001 }, () => true) : some;
      const { moves, instance } = live(model, script);
      expect(["done", failed]).toContain(instance.state);
      const failures = moves.filter((move) => move.to === failed).length;
      const states = pipeline.scope === "state" ? pipeline.states.length : 1;
      expect(failures).toBeLessThanOrEqual(pipeline.maxFailures * states);
    }),
    { numRuns: 500 },
  );
});
