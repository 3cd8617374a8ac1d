import { PawlError } from "../../base/errors.ts";
import type { Dice } from "../dice.ts";

/**
 * Random choices that follow from the seed of a run, for generators of data and payloads. `Math.random` is seeded, too, while a
 * run calls your functions.
 *
 * ```ts
 * import type { SimulationRandom } from "pawl/testing";
 *
 * const parcel = ({ random }: { random: SimulationRandom }) => ({ to: random.pick(["Elm 3", "Oak 7"]), kilos: random.int(1, 30) });
 * ```
 */
export interface SimulationRandom {
  /** A number in [0, 1). */
  number(): number;
  /** A whole number from `least` to `most`, both included. */
  int(least: number, most: number): number;
  /** One of the list. */
  pick<Item>(list: readonly Item[]): Item;
  /** Whether something of this probability happens, such as 0.1. */
  chance(probability: number): boolean;
}

/** The source of a generator: the same dice and label give the same numbers. */
export function randomOf(dice: Dice, label: string): SimulationRandom {
  const number = dice.stream(label);
  return {
    number,
    int(least, most) {
      if (!Number.isInteger(least) || !Number.isInteger(most) || most < least)
        throw new PawlError("option_invalid", "`random.int` needs two whole numbers, the lower one first.");
      return least + Math.floor(number() * (most - least + 1));
    },
    pick(list) {
      if (!Array.isArray(list) || list.length === 0)
        throw new PawlError("option_invalid", "`random.pick` needs a list with at least one item.");
      return list[Math.floor(number() * list.length)]!;
    },
    chance: (probability) => number() < probability,
  };
}
