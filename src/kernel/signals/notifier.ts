import { randomBytes } from "node:crypto";
import type { Db, Listener } from "../../store/port/db.ts";
import { sendNotice } from "../../store/port/notices.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Signals } from "./signals.ts";

/** The interval between notifications. It grows with their number: then all processes are busy anyway. */
const minIntervalMs = 10;
const maxIntervalMs = 50;
const busyHints = 20;
/** Well below the 8,000 bytes that a notification holds. */
const maxBytes = 7_000;
/** How many instances a notification names; waiters for others find them by polling. */
const maxInstances = 50;
/** For more lanes than fit into one notification. */
const allTopics = "*";

/**
 * Sends the hints of this process to others, and receives theirs: after a quiet time at once, otherwise collected into
 * one notification. Outside of the transactions that they are about, since commits that notify wait for each other; but
 * after a quiet time a start may send its own. Lost notifications are made up for by polling.
 */
export class Notifier {
  readonly #db: Db;
  readonly #signals: Signals;
  readonly #log: Log;
  /** By which a process knows its own words. */
  readonly #name = randomBytes(6).toString("hex");
  readonly #lanes = new Set<string>();
  readonly #instances = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  /** Hints of this turn of the event loop are collected, and then sent. */
  #isDue = false;
  #intervalMs = minIntervalMs;
  #hints = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #sending = false;
  #listener: Listener | undefined;
  #closed = false;

  constructor(db: Db, signals: Signals, log: Log) {
    this.#db = db;
    this.#signals = signals;
    this.#log = log;
    signals.forwardTo((topic) => this.#queueTopic(topic));
  }

  /** Begins to listen, once: for who waits for work or for an instance. */
  listen(): void {
    if (this.#closed) return;
    this.#listener ??= this.#db.listen?.({
      onNotice: (text) => this.#receive(text),
      onListening: () => this.#signals.receiveAll(), // Something may have been missed until now.
      onWarning: (text) => this.#log.warn({}, text),
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#listener?.stop();
    clearTimeout(this.#timer);
    if (this.#timer !== undefined || this.#isDue) await this.#send(); // The last words, too.
  }

  /**
   * The notification about a topic, for a transaction that sends it itself; undefined unless it has been quiet for a
   * while and nothing else is to be sent.
   */
  claimNotice(topics: readonly string[]): string | undefined {
    const isQuiet = this.#timer === undefined && !this.#isDue && !this.#sending && this.#silentMs >= this.#intervalMs;
    if (!isQuiet || this.#closed) return undefined;
    this.#sentAt = performance.now();
    return this.#textOf(topics);
  }

  get #silentMs(): number {
    return performance.now() - this.#sentAt;
  }

  #queueTopic(topic: string): void {
    if (this.#closed) return;
    if (!topic.includes("-") || topic.includes("@")) this.#lanes.add(topic);
    else if (this.#instances.size <= maxInstances) this.#instances.add(topic);
    this.#hints += 1;
    if (this.#timer !== undefined || this.#isDue || this.#sending) return;
    const restMs = this.#intervalMs - this.#silentMs;
    if (restMs > 0) this.#timer = setTimeout(() => void this.#send(), restMs).unref();
    else {
      this.#isDue = true;
      queueMicrotask(() => {
        if (this.#isDue) void this.#send();
      });
    }
  }

  async #send(): Promise<void> {
    this.#timer = undefined;
    this.#isDue = false;
    const instances = this.#instances.size <= maxInstances ? [...this.#instances] : [];
    const text = this.#textOf([...this.#lanes, ...instances]) ?? this.#textOf([...this.#lanes]);
    this.#intervalMs =
      this.#hints > busyHints
        ? Math.min(this.#intervalMs * 2, maxIntervalMs)
        : Math.max(this.#intervalMs / 2, minIntervalMs);
    this.#hints = 0;
    this.#lanes.clear();
    this.#instances.clear();
    this.#sending = true;
    this.#sentAt = performance.now();
    try {
      await sendNotice(this.#db, text ?? `${this.#name} ${allTopics}`);
    } catch {
      // The receivers poll.
    }
    this.#sending = false;
    const [next] = [...this.#lanes, ...this.#instances];
    if (next !== undefined) this.#queueTopic(next); // Hints that came meanwhile.
  }

  /** Undefined when it is too much for one notification. */
  #textOf(topics: readonly string[]): string | undefined {
    const text = `${this.#name} ${topics.join(" ")}`;
    return Buffer.byteLength(text) <= maxBytes ? text : undefined;
  }

  #receive(text: string): void {
    const [name, ...topics] = text.split(" ");
    if (name === this.#name) return;
    for (const topic of topics) {
      if (topic === allTopics) this.#signals.receiveAll();
      else this.#signals.receive(topic);
    }
  }
}
