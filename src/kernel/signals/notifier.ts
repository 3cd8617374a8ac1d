import { randomBytes } from "node:crypto";
import type { Db, Listener } from "../../store/port/db.ts";
import { sendNotice } from "../../store/port/notices.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Signals } from "./signals.ts";

/** The time from one notification to the next. It grows with what there is to tell: then everybody is busy anyway. */
const leastApartMs = 10;
const mostApartMs = 50;
const muchToTell = 20;
/** Well below the 8,000 bytes that a notification holds. */
const mostBytes = 7_000;
/** So many instances are told of by name; beyond that, whoever waits for one finds it by looking. */
const mostInstances = 50;
/** For more lanes than fit into one notification. */
const everything = "*";

/**
 * Tells other processes what this one hints at, and hears what they tell: after a silence at once, else what has gathered
 * meanwhile as one notification, and always outside of the transactions that it is about. Whatever is lost on the way,
 * looking finds.
 */
export class Others {
  readonly #db: Db;
  readonly #signals: Signals;
  readonly #log: Log;
  /** By which a process knows its own words. */
  readonly #name = randomBytes(6).toString("hex");
  readonly #lanes = new Set<string>();
  readonly #instances = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #apartMs = leastApartMs;
  #hints = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #sending = false;
  #listener: Listener | undefined;
  #closed = false;

  constructor(db: Db, signals: Signals, log: Log) {
    this.#db = db;
    this.#signals = signals;
    this.#log = log;
    signals.tellOthers((topic) => this.#tell(topic));
  }

  /** Begins to listen, once: for who waits for work or for an instance. */
  listen(): void {
    if (this.#closed) return;
    this.#listener ??= this.#db.listen?.({
      onNotice: (text) => this.#hear(text),
      onListening: () => this.#signals.heardAll(), // Something may have been missed until now.
      onWarning: (text) => this.#log.warn({}, text),
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#listener?.stop();
    clearTimeout(this.#timer);
    if (this.#timer !== undefined) await this.#send(); // The last words, too.
  }

  #tell(topic: string): void {
    if (this.#closed) return;
    if (!topic.includes("-") || topic.includes("@")) this.#lanes.add(topic);
    else if (this.#instances.size <= mostInstances) this.#instances.add(topic);
    this.#hints += 1;
    if (this.#timer !== undefined || this.#sending) return;
    const silentMs = performance.now() - this.#sentAt;
    this.#timer = setTimeout(() => void this.#send(), Math.max(0, this.#apartMs - silentMs));
    this.#timer.unref();
  }

  async #send(): Promise<void> {
    this.#timer = undefined;
    const instances = this.#instances.size <= mostInstances ? [...this.#instances] : [];
    const text = this.#textOf([...this.#lanes, ...instances]) ?? this.#textOf([...this.#lanes]);
    this.#apartMs =
      this.#hints > muchToTell ? Math.min(this.#apartMs * 2, mostApartMs) : Math.max(this.#apartMs / 2, leastApartMs);
    this.#hints = 0;
    this.#lanes.clear();
    this.#instances.clear();
    this.#sending = true;
    this.#sentAt = performance.now();
    try {
      await sendNotice(this.#db, text ?? `${this.#name} ${everything}`);
    } catch {
      // Whoever would have heard it looks.
    }
    this.#sending = false;
    const [next] = [...this.#lanes, ...this.#instances];
    if (next !== undefined) this.#tell(next); // What came meanwhile.
  }

  /** Undefined when it is too much for one notification. */
  #textOf(topics: readonly string[]): string | undefined {
    const text = `${this.#name} ${topics.join(" ")}`;
    return Buffer.byteLength(text) <= mostBytes ? text : undefined;
  }

  #hear(text: string): void {
    const [name, ...topics] = text.split(" ");
    if (name === this.#name) return;
    for (const topic of topics) {
      if (topic === everything) this.#signals.heardAll();
      else this.#signals.heard(topic);
    }
  }
}
