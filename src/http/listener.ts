import type { LiveInstance, RateSample } from "./contract.ts";
import type { Visit } from "./principals.ts";

type Counts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Keeps both sides, and proxies between them, aware of the connection. */
const quietMs = 15_000;
/** Then the browser reconnects, and its access is checked again. */
const longestMs = 10 * 60_000;

/**
 * One open stream. Updates for a slow reader are merged into those that are not sent yet: a reader can fall behind, but
 * its queue cannot grow.
 */
export class Listener {
  readonly instance: string | undefined;
  /** The credential of its reader. */
  readonly visit: Visit;
  readonly body: ReadableStream<Uint8Array>;
  readonly #onEnd: () => void;
  readonly #endTimer: NodeJS.Timeout;
  readonly #counts = new Map<string, Map<string, number>>();
  #rates: readonly RateSample[] = [];
  #moved: LiveInstance | undefined;
  #version = 0;
  #ended = false;
  #wake: () => void = () => {};

  constructor(instance: string | undefined, visit: Visit, onEnd: () => void) {
    this.instance = instance;
    this.visit = visit;
    this.#onEnd = onEnd;
    this.#endTimer = setTimeout(() => this.end(), longestMs).unref();
    const encoder = new TextEncoder();
    // The first lines tell a browser when to reconnect, and that it is connected.
    let next: string | undefined = "retry: 2000\n\n";
    this.body = new ReadableStream(
      {
        pull: async (controller) => {
          next ??= await this.#next();
          if (next === undefined) return controller.close();
          controller.enqueue(encoder.encode(next));
          next = undefined;
        },
        cancel: () => this.end(),
      },
      { highWaterMark: 0 },
    );
  }

  tellCounts(counts: Counts): void {
    for (const [lifecycle, states] of counts) {
      const all = this.#counts.get(lifecycle) ?? new Map<string, number>();
      for (const [state, instances] of states) all.set(state, instances);
      this.#counts.set(lifecycle, all);
    }
    this.#wake();
  }

  tellRates(samples: readonly RateSample[]): void {
    this.#rates = [...this.#rates, ...samples];
    this.#wake();
  }

  tellInstance(moved: LiveInstance): void {
    if (moved.version === this.#version) return;
    this.#version = moved.version;
    this.#moved = moved;
    this.#wake();
  }

  end(): void {
    clearTimeout(this.#endTimer);
    this.#ended = true;
    this.#onEnd();
    this.#wake();
  }

  /** The next update to send; undefined when the stream has ended. */
  async #next(): Promise<string | undefined> {
    const text = this.#take();
    if (this.#ended) return undefined;
    if (text !== "") return text;
    const isQuiet = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(true), quietMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(false);
      };
    });
    this.#wake = () => {};
    return isQuiet ? ":\n\n" : this.#next();
  }

  #take(): string {
    const parts: string[] = [];
    if (this.#counts.size > 0) {
      const counts = [...this.#counts].map(([lifecycle, states]) => [lifecycle, Object.fromEntries(states)] as const);
      parts.push(said("counts", Object.fromEntries(counts)));
      this.#counts.clear();
    }
    if (this.#rates.length > 0) parts.push(said("rates", this.#rates));
    if (this.#moved !== undefined) parts.push(said("instance", this.#moved));
    this.#rates = [];
    this.#moved = undefined;
    return parts.join("");
  }
}

function said(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
