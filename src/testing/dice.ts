/** Random choices that depend on nothing but a seed and a label: removing one act of a run changes no other choice. */
export class Dice {
  readonly seed: number;

  constructor(seed: number) {
    this.seed = seed >>> 0;
  }

  /** A number in [0, 1) for this label, always the same. */
  draw(label: string): number {
    let hash = 0x811c9dc5 ^ this.seed;
    for (let at = 0; at < label.length; at++) hash = Math.imul(hash ^ label.charCodeAt(at), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return ((hash ^ (hash >>> 16)) >>> 0) / 0x1_0000_0000;
  }

  /** Whether something of this probability happens. */
  chance(label: string, probability: number): boolean {
    return this.draw(label) < probability;
  }

  /** A whole number from `least` to `most`. */
  between(label: string, least: number, most: number): number {
    return least + Math.floor(this.draw(label) * (most - least + 1));
  }

  pick<T>(label: string, list: readonly T[]): T {
    return list[Math.floor(this.draw(label) * list.length)]!;
  }

  /** One of these, by their weights. */
  weighted<T extends string>(label: string, weights: Readonly<Partial<Record<T, number>>>): T {
    const entries = Object.entries(weights) as [T, number][];
    let left = this.draw(label) * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return entries.at(-1)![0];
  }

  /** Dice of their own for a part. */
  for(label: string): Dice {
    return new Dice(Math.floor(this.draw(label) * 0x1_0000_0000));
  }

  /** A sequence of numbers in [0, 1), to replace `Math.random`. */
  stream(label: string): () => number {
    let count = 0;
    return () => this.draw(`${label} ${count++}`);
  }
}
