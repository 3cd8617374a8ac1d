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
    const item = this.#items.shift();
    return item === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(item);
  }

  /** How many have arrived and were not asked for. */
  get left(): number {
    return this.#items.length;
  }
}
