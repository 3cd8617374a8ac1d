import { Dice } from "../dice.ts";

/**
 * The kinds of acts in a simulation, each with a weight:
 *
 * - `start`: a caller starts an instance, sometimes two callers the same one at once;
 * - `send`: a caller sends an event, mostly one that the instance accepts now;
 * - `race`: two callers send at the same time, the same event or two different ones;
 * - `callback`: an external service sends a result or an error, sometimes twice;
 * - `work`: a worker runs all steps that are ready;
 * - `wait`: time passes: seconds, days, or until the next thing is due;
 * - `fail`, `failPermanently`: the next step throws, before it began or after it has done its work;
 * - `crash`: the process dies soon, before or after a commit, a step or an effect, and another takes over;
 * - `stall`: the worker of the next step stalls for longer than its lease, another one runs the step, then the first
 *   continues;
 * - `interrupt`: a caller sends an event while the next step runs;
 * - `relay`: the messages of the outbox are sent, if there is one;
 * - `recover`, `restart`, `discard`: an operator does so.
 */
export const defaultWeights = {
  start: 3,
  send: 6,
  race: 1.5,
  callback: 4,
  work: 6,
  wait: 4,
  fail: 2.5,
  failPermanently: 1,
  crash: 3,
  stall: 1,
  interrupt: 1.5,
  relay: 2,
  recover: 1,
  restart: 0,
  discard: 0.3,
} as const;

/** A kind of act, as `weights` names it. */
export type ActKind = keyof typeof defaultWeights;

export const actKinds = Object.keys(defaultWeights) as ActKind[];

/** One act. Its other choices are drawn from dice of its own. */
export interface Act {
  readonly kind: ActKind;
  readonly dice: number;
  /** In its simplest form: once, by one caller. */
  readonly isSimple: boolean;
}

/** Everything that makes one run, as plain data: the same plan is the same run, and a part of it is a smaller one. */
export interface Plan {
  readonly seed: number;
  readonly acts: readonly Act[];
}

/** The plan of a seed. */
export function planOf(seed: number, most: number, weights: Readonly<Record<ActKind, number>>): Plan {
  const dice = new Dice(seed);
  const length = dice.between("acts", Math.ceil(most / 3), most);
  const acts = Array.from({ length }, (_, at): Act => {
    const own = dice.for(`act ${at}`);
    // Before the first start nothing else has anything to happen to.
    const kind = at === 0 ? "start" : own.weighted<ActKind>("kind", weights);
    return { kind, dice: own.seed, isSimple: false };
  });
  return { seed, acts };
}
