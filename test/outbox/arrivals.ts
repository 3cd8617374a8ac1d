/** What arrives somewhere, to be waited for one by one. */
export class Arrivals<Item> {
  readonly #items: Item[] = [];
  readonly #waiting: ((item: Item) => void)[] = [];

  add(item: Item): void {
    const waiter = this.#waiting.shift();
    if (waiter === undefined) this.#items.push(item);
    else waiter(item);
  }

  next(): Promise<Item> {
    // An item may well be undefined: what is asked is how many there are.
    if (this.#items.length > 0) return Promise.resolve(this.#items.shift()!);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** How many have arrived and were not asked for. */
  get left(): number {
    return this.#items.length;
  }
}
