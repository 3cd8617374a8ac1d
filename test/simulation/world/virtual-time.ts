import { AsyncLocalStorage } from "node:async_hooks";

/** Who owns a timer: a process that a run simulates. The timers of one that has died never fire. */
export interface Owner {
  readonly isAlive: boolean;
}

interface Timer {
  atMs: number;
  readonly order: number;
  readonly everyMs: number | undefined;
  readonly owner: Owner;
  readonly fire: () => void;
}

/** The part of `NodeJS.Timeout` that code uses. */
class Handle {
  readonly #time: VirtualTime;
  readonly #delayMs: number;
  readonly #timer: Omit<Timer, "atMs">;

  constructor(time: VirtualTime, delayMs: number, timer: Omit<Timer, "atMs">) {
    this.#time = time;
    this.#delayMs = delayMs;
    this.#timer = timer;
    this.refresh();
  }

  refresh(): this {
    this.#time.set(this, { ...this.#timer, atMs: this.#time.nowMs + this.#delayMs });
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

const real = { setTimeout, clearTimeout, setInterval, clearInterval, random: Math.random };
const nextTurn = setImmediate;

/** Resolves once everything that could run without a timer or a database has run. */
export async function turn(): Promise<void> {
  await new Promise((resolve) => nextTurn(resolve));
}

/**
 * Time that passes only when the run says so. While it is installed, the timers, `performance.now` and `Math.random` of
 * code that runs on behalf of an owner are virtual; all other code keeps the real ones.
 */
export class VirtualTime {
  nowMs = 1_000_000;
  readonly #owners = new AsyncLocalStorage<Owner>();
  readonly #timers = new Map<object, Timer>();
  readonly #random: () => number;
  #order = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Runs `work` on behalf of `owner`. */
  as<T>(owner: Owner, work: () => T): T {
    return this.#owners.run(owner, work);
  }

  get owner(): Owner | undefined {
    return this.#owners.getStore();
  }

  /** @internal */
  set(handle: object, timer: Timer): void {
    this.#timers.set(handle, timer);
  }

  /** Replaces the real timers; returns how to bring them back. */
  install(): () => void {
    const realNow = performance.now.bind(performance);
    const set = (fn: (...args: unknown[]) => void, ms: number | undefined, args: unknown[], repeats: boolean) => {
      const owner = this.owner!;
      const delayMs = Math.max(1, Math.trunc(Number(ms)) || 1);
      const run = AsyncLocalStorage.snapshot();
      const fire = () => run(() => fn(...args));
      return new Handle(this, delayMs, {
        order: this.#order++,
        owner,
        fire,
        everyMs: repeats ? delayMs : undefined,
      });
    };
    const clear = (handle: unknown, otherwise: (handle: never) => void) => {
      if (handle instanceof Handle) this.#timers.delete(handle);
      else otherwise(handle as never);
    };
    Object.assign(globalThis, {
      setTimeout: Object.assign(
        (fn: () => void, ms?: number, ...args: unknown[]) =>
          this.owner === undefined ? real.setTimeout(fn, ms, ...(args as [])) : set(fn, ms, args, false),
        real.setTimeout,
      ),
      setInterval: (fn: () => void, ms?: number, ...args: unknown[]) =>
        this.owner === undefined ? real.setInterval(fn, ms, ...(args as [])) : set(fn, ms, args, true),
      clearTimeout: (handle: unknown) => clear(handle, real.clearTimeout),
      clearInterval: (handle: unknown) => clear(handle, real.clearInterval),
    });
    performance.now = () => (this.owner === undefined ? realNow() : this.nowMs);
    Math.random = () => (this.owner === undefined ? real.random() : this.#random());
    return () => {
      const { random, ...timers } = real;
      Object.assign(globalThis, timers);
      Math.random = random;
      delete (performance as { now?: unknown }).now;
    };
  }

  /** When the next timer is due; undefined when there is none. */
  get nextMs(): number | undefined {
    return this.#next()?.[1].atMs;
  }

  /** Fires the next timer that is due at `untilMs` or earlier, at its own moment; tells whether there was one. */
  fireNext(untilMs: number): boolean {
    const next = this.#next();
    if (next === undefined || next[1].atMs > untilMs) return false;
    const [handle, timer] = next;
    this.nowMs = Math.max(this.nowMs, timer.atMs);
    if (timer.everyMs === undefined) this.#timers.delete(handle);
    else timer.atMs = this.nowMs + timer.everyMs;
    timer.fire();
    return true;
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.size;
  }

  #next(): [object, Timer] | undefined {
    let found: [object, Timer] | undefined;
    for (const [handle, timer] of this.#timers) {
      if (!timer.owner.isAlive) {
        this.#timers.delete(handle);
        continue;
      }
      const isEarlier =
        found === undefined ||
        timer.atMs < found[1].atMs ||
        (timer.atMs === found[1].atMs && timer.order < found[1].order);
      if (isEarlier) found = [handle, timer];
    }
    return found;
  }
}
