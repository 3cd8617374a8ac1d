import { durationMs } from "../../base/duration.ts";
import type { LifecycleModel, StateModel } from "../../definition/model.ts";
import {
  claimRelease,
  forgetReleaseFailures,
  type ParkedRow,
  readDueReleases,
  readParked,
} from "../../store/move/releases.ts";
import { asPawlError } from "../errors.ts";
import type { Kernel } from "../kernel.ts";
import { failReleases, type ParkedState } from "./release-failures.ts";
import { sendAll } from "./send.ts";

const pageSize = 500;
/** A round runs few statements even if all refuse. The rest is left to the next turn. */
const maxPages = 40;
const firstId = "00000000-0000-0000-0000-000000000000";

/** How many instances were released, and the states that could not be released. */
export interface ReleasedParked {
  readonly released: number;
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
}

/**
 * Sends the events of parked states that are due, in bulk and oldest first. An instance that refuses or throws stays
 * parked, is retried after a pause, and blocks none behind it; a state that fails blocks no other state.
 */
export async function releaseParked(kernel: Kernel): Promise<ReleasedParked> {
  const failures: { id: string; error: unknown }[] = [];
  let released = 0;
  for (const lifecycle of kernel.lifecycles.values()) {
    for (const state of lifecycle.states.values()) {
      if (state.release === undefined) continue;
      try {
        released += await releaseState(kernel, parkedState(lifecycle, state));
      } catch (thrown) {
        const error = asPawlError(thrown);
        if (error.fault === "environment") throw error;
        failures.push({ id: `${lifecycle.name}/${state.name}`, error });
      }
    }
  }
  return { released, failures };
}

function parkedState(lifecycle: LifecycleModel, { name, release }: StateModel): ParkedState {
  const { interval, send, limit } = release!;
  return { lifecycle, state: name, event: send, limit, everyMs: durationMs(interval, "release.interval") };
}

/**
 * Pages of failed ones and pages of the others alternate: neither can use up all tries of a round, so an instance that
 * keeps refusing is never in the way of one that would not.
 */
async function releaseState(kernel: Kernel, parked: ParkedState): Promise<number> {
  const { limit: releaseLimit, everyMs, state } = parked;
  const lifecycle = parked.lifecycle.name;
  if (!(await claimRelease(kernel.db, lifecycle, state, everyMs))) return 0;
  await forgetReleaseFailures(kernel.db, { lifecycle, state, limit: maxPages * pageSize });
  let released = 0;
  let afterId = firstId;
  const open = { again: true, first: true };
  for (let page = 0; page < maxPages && released < releaseLimit && (open.again || open.first); page++) {
    const limit = Math.min(pageSize, releaseLimit - released);
    const isAgain = open.again && (page % 2 === 0 || !open.first);
    const rows = isAgain
      ? await readDueReleases(kernel.db, { lifecycle, state, limit })
      : await readParked(kernel.db, { lifecycle, state, afterId, limit });
    if (rows.length < limit) open[isAgain ? "again" : "first"] = false;
    if (!isAgain) afterId = rows.at(-1)?.id ?? afterId;
    if (rows.length > 0) released += await releaseThese(kernel, parked, rows);
  }
  return released;
}

async function releaseThese(kernel: Kernel, parked: ParkedState, rows: readonly ParkedRow[]): Promise<number> {
  const sent = await sendAll(
    kernel,
    rows.map(({ id }) => ({
      lifecycle: parked.lifecycle,
      ref: { id },
      event: parked.event,
      payload: undefined,
      actor: null,
      reason: "release",
      expectedVersion: undefined,
      idempotency: undefined,
      delay: undefined,
      requestId: kernel.newId(),
      source: "timer",
    })),
  );
  const failures = sent.flatMap((one, index) => (one.ok ? [] : [{ ...rows[index]!, error: one.error }]));
  if (failures.length > 0) await failReleases(kernel, parked, failures);
  return sent.length - failures.length;
}
