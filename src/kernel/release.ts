import { durationMs } from "../base/duration.ts";
import type { LifecycleModel, StateModel } from "../definition/model.ts";
import { readParked, takeRelease } from "../store/releases.ts";
import type { Kernel } from "./kernel.ts";
import { sendAll } from "./send.ts";

const pageSize = 500;
const pagesAtMost = 20;
const firstId = "00000000-0000-0000-0000-000000000000";

/**
 * Sends the events of parked states, in bulk and oldest first, for those whose time has come. One that refuses stays
 * parked and holds up nobody behind it. Gives back how many went on.
 */
export async function releaseParked(kernel: Kernel): Promise<number> {
  let released = 0;
  for (const lifecycle of kernel.lifecycles.values()) {
    for (const state of lifecycle.states.values()) {
      if (state.release !== undefined) released += await releaseState(kernel, lifecycle, state, state.release);
    }
  }
  return released;
}

async function releaseState(
  kernel: Kernel,
  lifecycle: LifecycleModel,
  state: StateModel,
  release: NonNullable<StateModel["release"]>,
): Promise<number> {
  const everyMs = durationMs(release.every, "release.every");
  if (!(await takeRelease(kernel.db, lifecycle.name, state.name, everyMs))) return 0;
  let released = 0;
  for (let page = 0, afterId = firstId; page < pagesAtMost && released < release.atMost; page++) {
    const limit = Math.min(pageSize, release.atMost - released);
    const parked = await readParked(kernel.db, { lifecycle: lifecycle.name, state: state.name, afterId, limit });
    const sent = await sendAll(
      kernel,
      parked.map(({ id }) => ({
        lifecycle,
        ref: { id },
        event: release.send,
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
    released += sent.filter((one) => one.ok).length;
    if (parked.length < limit) break;
    afterId = parked.at(-1)!.id;
  }
  return released;
}
