import { randomBytes } from "node:crypto";
import type pg from "pg";
import { messageOf } from "../../base/errors.ts";
import type { Listener, ListenOptions } from "../port/db.ts";
import type { Hosts } from "./hosts.ts";

/** How long a notification to oneself may take, and how often a silent connection is tried with one. */
export const listenerTiming = { testMs: 3_000, everyMs: 5_000 };
const firstPauseMs = 250;
const maxPauseMs = 10_000;
/** Where no notification has arrived, as behind a pooler, it retries at this interval: databases are moved. */
const vainPauseMs = 600_000;

/** The message where notifications do not arrive. */
export const unheard =
  "Notifications do not come through, as behind a pooler in transaction mode: work of other processes is found by looking.";

/** Waits for one thing at a time: for a test notification, or for a pause to end. */
interface Wait {
  readonly text: string | undefined;
  readonly end: (isHeard: boolean) => void;
}

/**
 * Listens on a connection of its own, and verifies that notifications arrive: it sends itself one at the start, and
 * again after a quiet time. A dead connection would otherwise look like one without notifications.
 */
export class PostgresListener implements Listener {
  readonly #hosts: Hosts;
  /** Sends over another connection: through a pooler, one that notifies itself proves nothing. */
  readonly #send: (text: string) => Promise<void>;
  readonly #options: ListenOptions;
  readonly #timing: typeof listenerTiming;
  /** Identifies its own test notifications. */
  readonly #mark = `?${randomBytes(6).toString("hex")}`;
  readonly #ended: Promise<void>;
  #tests = 0;
  #heardAt = 0;
  #wait: Wait | undefined;
  #stopped = false;
  #isQuiet = false;

  constructor(
    hosts: Hosts,
    send: (text: string) => Promise<void>,
    options: ListenOptions,
    timing: typeof listenerTiming = listenerTiming,
  ) {
    this.#hosts = hosts;
    this.#send = send;
    this.#options = options;
    this.#timing = timing;
    this.#ended = this.#loop();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wait?.end(false);
    await this.#ended;
  }

  async #loop(): Promise<void> {
    for (let pauseMs = firstPauseMs; !this.#stopped; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      const began = performance.now();
      let isVain = false;
      try {
        isVain = !(await this.#listenOnce());
      } catch (error) {
        this.#warn(`Wake-ups from other processes are cut off, so their work is found by looking: ${messageOf(error)}`);
      }
      if (performance.now() - began > maxPauseMs) pauseMs = firstPauseMs; // It was well for a while.
      if (!this.#stopped) await this.#until(isVain ? vainPauseMs : pauseMs);
    }
  }

  /**
   * One connection, until it is closed; throws when it is lost, and returns false if it never received a notification.
   */
  async #listenOnce(): Promise<boolean> {
    const { testMs, everyMs } = this.#timing;
    const client = await this.#hosts.connect({
      application_name: "pawl-listener",
      // No `options`: it runs nothing but LISTEN, which no search path can change, and a pooler refuses them.
      keepAlive: true,
      connectionTimeoutMillis: testMs,
      query_timeout: testMs,
    });
    let lost: Error | undefined;
    const lose = (error = new Error("the connection ended.")) => {
      lost ??= error;
      this.#wait?.end(false);
    };
    client.on("error", lose).on("end", lose);
    client.on("notification", ({ payload = "" }) => this.#receive(payload));
    try {
      streamOf(client).unref();
      await client.query("listen pawl");
      if (!(await this.#hearsItself())) {
        if (lost !== undefined) throw lost;
        this.#warn(unheard);
        return false;
      }
      this.#isQuiet = false;
      this.#options.onListening();
      while (!this.#stopped) {
        await this.#until(everyMs);
        if (lost !== undefined) throw lost;
        const isSilent = !this.#stopped && performance.now() - this.#heardAt >= everyMs;
        if (isSilent && !(await this.#hearsItself())) throw new Error("a test notification did not arrive.");
      }
      return true;
    } finally {
      client.removeListener("end", lose);
      // Immediately: a graceful close of a dead connection would wait for an answer that never comes.
      streamOf(client).destroy();
    }
  }

  async #hearsItself(): Promise<boolean> {
    const text = `${this.#mark}${++this.#tests}`;
    const isHeard = this.#until(this.#timing.testMs, text);
    await this.#send(text);
    return isHeard;
  }

  #receive(text: string): void {
    this.#heardAt = performance.now();
    if (!text.startsWith("?")) this.#options.onNotice(text);
    else if (text === this.#wait?.text) this.#wait.end(true);
  }

  /** Waits for this notification, with a limit and not after the end; returns whether it arrived. */
  #until(ms: number, text?: string): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isHeard: boolean) => {
        clearTimeout(timer);
        resolve(isHeard);
      };
      const timer = setTimeout(() => end(false), ms);
      timer.unref();
      this.#wait = { text, end };
    });
  }

  /** Logged once, until it works again. */
  #warn(text: string): void {
    if (!this.#isQuiet && !this.#stopped) this.#options.onWarning(text);
    this.#isQuiet = true;
  }
}

/** Parts that the driver's types omit. */
function streamOf(client: pg.Client): { unref(): void; destroy(): void } {
  return (client as unknown as { connection: { stream: { unref(): void; destroy(): void } } }).connection.stream;
}
