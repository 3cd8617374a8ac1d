import { failed, type LifecycleModel } from "../../definition/model.ts";
import { declaredStates, type Exit, exitsOf } from "./exits.ts";
import type { Findings } from "./finding.ts";

/** A move that happens without a caller or a person. */
interface Move {
  readonly from: string;
  readonly to: string;
  readonly exit: Exit;
}

/**
 * Finds loops in which the engine can run for ever: a worker or the clock makes every move in them, and none of them is
 * a failure that counts against the budget of `recovery`. A deadline ends them all.
 */
export function checkLoops(lifecycle: LifecycleModel, findings: Findings): void {
  if (lifecycle.deadline !== undefined) return;
  const moves = movesByThemselves(lifecycle);
  const seen = new Set<string>();
  const report = (isMeant: (move: Move) => boolean) => {
    for (const move of moves.filter(isMeant)) {
      const loop = shortestLoop(move, moves);
      const name = loop === undefined ? "" : [...new Set(loop.map(({ from }) => from))].sort().join(" ");
      if (loop === undefined || seen.has(name)) continue;
      seen.add(name);
      describe(loop, findings);
    }
  };
  // Those that begin with a caught failure are the worst, and are named first.
  report(({ exit }) => exit.event === "fail");
  report(({ exit }) => exit.event !== "fail");
}

function movesByThemselves(lifecycle: LifecycleModel): Move[] {
  return declaredStates(lifecycle).flatMap((state) =>
    exitsOf(lifecycle, state)
      .filter(({ by, leaves }) => (by === "worker" || by === "clock") && leaves)
      .flatMap((exit) => exit.to.filter((to) => to !== failed).map((to) => ({ from: state.name, to, exit }))),
  );
}

/** The shortest way back to where a move begins, with the move as its first part. */
function shortestLoop(first: Move, moves: readonly Move[]): Move[] | undefined {
  const ways: Move[][] = [[first]];
  const reached = new Set([first.to]);
  for (const way of ways) {
    const last = way.at(-1)!;
    if (last.to === first.from) return way;
    for (const next of moves) {
      if (next.from !== last.to || (reached.has(next.to) && next.to !== first.from)) continue;
      reached.add(next.to);
      ways.push([...way, next]);
    }
  }
  return undefined;
}

function describe(loop: readonly Move[], findings: Findings): void {
  const path = [loop[0]!.from, ...loop.map(({ to }) => to)];
  const shown = path.join(" → ");
  const isGuarded = loop.some(({ exit, to }) => exit.isGuarded || exit.to[0] !== to || exit.to.length > 1);
  const about = { state: loop[0]!.from, event: loop[0]!.exit.event, path };
  if (loop.some(({ exit }) => exit.event === "fail")) {
    const unless = isGuarded ? " unless a guard refuses" : "";
    findings.add(
      "loop_unbounded",
      isGuarded ? "warning" : "error",
      about,
      `A step that keeps failing loops for ever${unless}: ${shown}. Each failure is caught by an edge, so no budget counts it.`,
      "Make a `fail` edge lead to `failed`, where `recovery.maxFailures` counts, or give it a guard that ends the loop.",
    );
    return;
  }
  const isTimed = loop.every(({ exit }) => exit.by === "clock");
  const until = isTimed ? "only an external event ends it" : "only its steps can end it";
  findings.add(
    "loop_unbounded",
    "warning",
    about,
    `An instance can loop by itself without end: ${shown}; ${until}.`,
    "Count the rounds in the data and give one edge a guard, call `step.giveUp`, or give the lifecycle a `deadline`.",
  );
}
