import type { MTurk } from "@aws-sdk/client-mturk";
import { messageOf, PawlError } from "../../../base/errors.ts";
import type { MarketplaceContext } from "../../marketplace.ts";
import type { Annotations } from "./hit/annotation.ts";
import type { MturkCredentials } from "./options.ts";
import { whatFailed } from "./refused.ts";

/** The service forgets a token after a day; Pawl relies on it for a shorter time. */
export const tokenLastsMs = 20 * 3_600_000;

export interface RequesterSettings {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: MturkCredentials | (() => Promise<MturkCredentials>) | undefined;
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly annotations: Annotations;
}

/** How a call of the SDK is made. */
interface How {
  readonly abortSignal: AbortSignal;
}

/** Sends requests to Mechanical Turk with the credentials of an AWS account. */
export class Requester {
  readonly #settings: RequesterSettings;
  #turk: Promise<MTurk> | undefined;

  constructor(settings: RequesterSettings) {
    this.#settings = settings;
  }

  get annotations(): Annotations {
    return this.#settings.annotations;
  }

  now(): number {
    return this.#settings.now();
  }

  /** Makes one call, which ends with the signal or its timeout; `doing` is such as "read the HIT". */
  async ask<T>(doing: string, { signal }: MarketplaceContext, work: (turk: MTurk, how: How) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    this.#turk ??= this.#connect();
    const turk = await this.#turk;
    const time = AbortSignal.timeout(this.#settings.timeoutMs);
    try {
      return await work(turk, { abortSignal: AbortSignal.any([signal, time]) });
    } catch (error) {
      signal.throwIfAborted();
      throw whatFailed(time.aborted ? new Error(`no response within ${this.#settings.timeoutMs} ms`) : error, doing);
    }
  }

  async close(): Promise<void> {
    const turk = await this.#turk?.catch(() => undefined);
    turk?.destroy();
    this.#turk = undefined;
  }

  async #connect(): Promise<MTurk> {
    const { endpoint, region, credentials } = this.#settings;
    const { MTurk } = await loadSdk();
    return new MTurk({
      endpoint,
      region,
      ...(credentials !== undefined && { credentials }),
      maxAttempts: 1, // Retries are counted in one place, by the caller.
    });
  }
}

/** Loaded here and nowhere else, by those who use it. */
async function loadSdk(): Promise<typeof import("@aws-sdk/client-mturk")> {
  try {
    return await import("@aws-sdk/client-mturk");
  } catch (error) {
    throw new PawlError(
      "option_invalid",
      `Mechanical Turk needs the package @aws-sdk/client-mturk, which could not be loaded (${messageOf(error)}). Install it: npm install @aws-sdk/client-mturk@3.`,
      {},
      { cause: error },
    );
  }
}
