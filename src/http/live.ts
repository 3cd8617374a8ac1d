import { setTimeout as delay } from "node:timers/promises";
import type { Hono } from "hono";
import { may } from "../access/roles.ts";
import { logOf, standingOf, validSecretsOf, withReadLimits } from "../api/internals.ts";
import type { Pawl } from "../api/pawl.ts";
import { PawlError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import { logFailure } from "../telemetry/log.ts";
import { type AdmissionOptions, admitVisit, callerOf } from "./admission.ts";
import { reauthenticateEveryMs } from "./authentication.ts";
import type { LiveInstance } from "./contract.ts";
import { Listener } from "./listener.ts";
import type { Visit } from "./principals.ts";
import { Rates } from "./rates.ts";
import { Reauthentication } from "./reauthentication.ts";

export interface LiveOptions extends AdmissionOptions {
  /** Ends the streams that are open, so that a server can close. */
  readonly ends?: AbortSignal | undefined;
}

const lookEveryMs = 250;
/** How soon a stream ends whose token or session was revoked. */
const checkEveryMs = 2_000;
/** After a failure: an unreachable database is not queried four times a second. */
const restMs = 2_000;

/** `GET /api/live`: a stream of changes, for readers with the right to view. One per tab is enough. */
export function mountLive(app: Hono, pawl: Pawl, options: LiveOptions): void {
  const live = new Live(pawl, new Reauthentication(reauthenticateEveryMs(options)), options);
  options.ends?.addEventListener("abort", () => live.end(), { once: true });
  app.get("/api/live", async (context) => {
    const visit = await admitVisit(pawl, context, options);
    const { principal } = visit;
    if (!may(principal.role, "read"))
      throw new PawlError(
        "not_allowed",
        `${principal.name} has the role ${principal.role}, which cannot view live updates.`,
      );
    const instance = context.req.query("instance");
    if (instance !== undefined && !isId(instance)) throw new PawlError("option_invalid", "`instance` must be an id.");
    return live.stream(instance, visit, options.limits?.openStream(callerOf(principal)));
  });
}

/** Reads the database once for all listeners of this process, and not at all without any. */
class Live {
  readonly #pawl: Pawl;
  readonly #listeners = new Set<Listener>();
  readonly #rates = new Rates();
  #counts: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map();
  #looking = false;
  #ended = false;
  readonly #reauthentication: Reauthentication;
  readonly #limits: LiveOptions["limits"];
  #checkedAt = 0;

  constructor(pawl: Pawl, reauthentication: Reauthentication, { limits }: LiveOptions) {
    this.#pawl = pawl;
    this.#reauthentication = reauthentication;
    this.#limits = limits;
  }

  /** `onEnd` is called once the stream has ended, by whichever side. */
  stream(instance: string | undefined, visit: Visit, onEnd: () => void = () => {}): Response {
    const listener = new Listener(instance, visit, () => {
      this.#listeners.delete(listener);
      onEnd();
    });
    if (this.#ended) listener.end();
    else {
      this.#listeners.add(listener);
      this.#reauthentication.opened(listener);
      listener.tellRates(this.#rates.samples);
      if (this.#looking) listener.tellCounts(this.#counts);
      else void this.#look();
    }
    return new Response(listener.body, {
      headers: {
        "content-type": "text/event-stream; charset=utf-8",
        // A proxy that gathers before it sends would make it anything but live.
        "x-accel-buffering": "no",
        connection: "close",
      },
    });
  }

  end(): void {
    this.#ended = true;
    for (const listener of this.#listeners) listener.end();
  }

  async #look(): Promise<void> {
    this.#looking = true;
    this.#counts = new Map();
    while (this.#listeners.size > 0) {
      this.#reauthentication.check(this.#listeners);
      try {
        await this.#endRevoked();
        await this.#lookOnce();
        await delay(lookEveryMs);
      } catch (error) {
        logFailure(logOf(this.#pawl), error);
        await delay(restMs);
      }
    }
    this.#rates.rest();
    this.#looking = false;
  }

  /** Ends the streams whose token or session was revoked or has expired. */
  async #endRevoked(): Promise<void> {
    if (performance.now() - this.#checkedAt < checkEveryMs) return;
    const listeners = [...this.#listeners];
    const secrets = new Set(listeners.flatMap(({ visit }) => visit.secret ?? []));
    const valid = secrets.size === 0 ? secrets : await validSecretsOf(this.#pawl, [...secrets]);
    for (const listener of listeners) {
      const { secret } = listener.visit;
      if (secret !== undefined && !valid.has(secret)) listener.end();
    }
    this.#checkedAt = performance.now();
  }

  async #lookOnce(): Promise<void> {
    const ids = new Set([...this.#listeners].flatMap(({ instance }) => instance ?? []));
    const look = () => standingOf(this.#pawl, [...ids]);
    const { counts, instances } = await withReadLimits(this.#pawl, this.#limits?.reads, look);
    const before = this.#counts;
    this.#counts = gathered(counts);
    const changed = changes(before, this.#counts);
    const sample = this.#rates.add(Date.now(), totals(counts));
    for (const listener of this.#listeners) {
      if (changed.size > 0) listener.tellCounts(changed);
      if (sample !== undefined) listener.tellRates([sample]);
      const moved = instances.find(({ id }) => id === listener.instance) as LiveInstance | undefined;
      if (moved !== undefined) listener.tellInstance(moved);
    }
  }
}

type Counts = ReadonlyMap<string, ReadonlyMap<string, number>>;
type StateCounts = Awaited<ReturnType<typeof standingOf>>["counts"];

function gathered(counts: StateCounts): Counts {
  const all = new Map<string, Map<string, number>>();
  for (const { lifecycle, state, instances } of counts) {
    const states = all.get(lifecycle) ?? new Map<string, number>();
    all.set(lifecycle, states.set(state, instances));
  }
  return all;
}

/** The changed counts; none for one that is gone. */
function changes(before: Counts, after: Counts): Counts {
  const changed = new Map<string, Map<string, number>>();
  for (const lifecycle of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(lifecycle) ?? new Map(), after.get(lifecycle) ?? new Map()];
    const states = [...new Set([...was.keys(), ...is.keys()])].filter((state) => was.get(state) !== is.get(state));
    if (states.length > 0) changed.set(lifecycle, new Map(states.map((state) => [state, is.get(state) ?? 0])));
  }
  return changed;
}

function totals(counts: StateCounts): Map<string, { total: number; done: number; failed: number }> {
  const all = new Map<string, { total: number; done: number; failed: number }>();
  for (const { lifecycle, instances, comesTo } of counts) {
    const sums = all.get(lifecycle) ?? { total: 0, done: 0, failed: 0 };
    sums.total += instances;
    if (comesTo === "done" || comesTo === "failed") sums[comesTo] += instances;
    all.set(lifecycle, sums);
  }
  return all;
}
