import { type AnyLifecycle, createPawl, lifecycle } from "pawl";
import { expect, test } from "vitest";
import type { Instance } from "../../src/index.ts";
import { eachStore, type Store } from "../support/each-store.ts";
import { type Feature, features, patience, type World } from "./features.ts";

/**
 * Every feature together with every other one, on one instance: serious bugs were always where two of them meet. Each
 * pair is one lifecycle that is made of both, goes through both, and ends; what each promises alone must hold, the
 * stored data must pass `verify` all the time, and nothing may be left open.
 */
eachStore((store) => {
  for (const [index, one] of features.entries()) {
    for (const other of features.slice(index + 1)) {
      // Nobody else can open an embedded database, which also takes its time: a sixth of the pairs must do there.
      const isChosen = (index + features.indexOf(other)) % 6 === 0 || process.env.PAWL_TEST_PAIRS === "all";
      if (store.kind === "pglite" && (one.needsServer || other.needsServer || !isChosen)) continue;
      test(`${one.name} and ${other.name}`, () => goThrough(store, [one, other]));
      // Which of their states comes first makes a difference.
      if (one.state !== undefined && other.state !== undefined)
        test(`${other.name}, then ${one.name}`, () => goThrough(store, [other, one]));
    }
  }
});

const maxRounds = 60;
let instances = 0;

async function goThrough(store: Store, pair: readonly [Feature, Feature]): Promise<void> {
  const seen = new Map<string, unknown>();
  const built = build(pair, seen, 2);
  const more = pair.map((feature) => feature.options?.() ?? {});
  const lifecycles = [built, ...more.flatMap((options) => options.lifecycles ?? [])];
  await using t = await store.open({ ...Object.assign({}, ...more), lifecycles });
  const key = `pair-${++instances}`;
  const instance = async () => (await t.pawl.get(built, key)) as Instance;
  await begin(t.pawl, built, key, pair, seen, t.url);
  for (let round = 0; ; round++) {
    const world: World = { t, lifecycle: built, key, round, seen, instance };
    for (const feature of pair) await feature.act?.(world);
    await t.work();
    await t.advance("1m");
    expect(await t.pawl.inspect.verify(), `after ${round} rounds`).toEqual([]);
    const { state, closedAt } = await instance();
    if (closedAt === null && round < maxRounds) continue;
    expect(state, `after ${round} rounds`).toBe("done");
    for (const feature of pair) await feature.check(world);
    break;
  }
  expect(await t.pawl.inspect.verify()).toEqual([]);
}

function build(pair: readonly [Feature, Feature], seen: Map<string, unknown>, version: number): AnyLifecycle {
  const own = pair.filter((feature) => feature.state !== undefined);
  const names = [...own.map(({ name }) => name.replace(" ", "_")), "done"];
  const recovers = pair.some((feature) => feature.name === "recovery");
  const states = Object.fromEntries(
    own.map((feature, at) => {
      const state = feature.state!(names[at + 1]!);
      const onlyWaits = !("ask" in state || "join" in state || "release" in state);
      return [names[at]!, recovers && onlyWaits ? { ...state, checkpoint: "work" } : state];
    }),
  );
  const worked = { to: names[0]!, ...Object.assign({}, ...pair.map((feature) => feature.edge?.(seen) ?? {})) };
  const definition = {
    version,
    initial: "work",
    ...Object.assign({}, ...pair.map((feature) => feature.lifecycle ?? {})),
    states: {
      work: {
        run: async (step: Parameters<NonNullable<Feature["inStep"]>>[0]) => {
          seen.set("ran", true);
          for (const feature of pair) await feature.inStep?.(step, seen);
          return step.go("worked");
        },
        retry: patience,
        on: { worked },
        ...Object.assign({}, ...pair.map((feature) => feature.work ?? {})),
      },
      ...states,
      done: { final: "success" },
    },
  };
  return lifecycle("pair", definition as never) as AnyLifecycle;
}

/** Started by a call, inside a transaction of the caller's, or by a process that knows only the version before. */
async function begin(
  pawl: Awaited<ReturnType<typeof createPawl>>,
  built: AnyLifecycle,
  key: string,
  pair: readonly [Feature, Feature],
  seen: Map<string, unknown>,
  url: string | undefined,
): Promise<void> {
  const has = (name: string) => pair.some((feature) => feature.name === name);
  const start = async (by: typeof pawl, which: AnyLifecycle) => {
    if (!has("tx")) {
      await by.start(which, { key } as never);
      return;
    }
    await by.transaction(async (tx) => {
      // A refusal beside it on the same transaction takes nothing of it back.
      const [, refused] = await Promise.all([
        by.start(which, { key, tx } as never),
        by.trySend(which, "nobody", "worked" as never, ...([{ tx }] as never[])),
      ]);
      expect(refused).toMatchObject({ ok: false });
    });
    seen.set("started in tx", true);
  };
  if (!has("versions")) return start(pawl, built);
  const before = build(pair, seen, 1);
  const options = pair.map((feature) => feature.options?.() ?? {});
  const lifecycles = [before, ...options.flatMap((one) => one.lifecycles ?? [])];
  const older = await createPawl({ database: url!, lifecycles, logger: false });
  try {
    await start(older, before);
    seen.set("started by an older version", true);
  } finally {
    await older.close();
  }
}
