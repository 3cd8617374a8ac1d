import type { Kernel } from "../kernel/kernel.ts";
import { sendAll } from "../kernel/move/send.ts";
import type { Send } from "../kernel/types/send.ts";
import type { SampleData } from "./lifecycle/sample.ts";
import { eventFor } from "./lifecycle/sends.ts";
import { markSettled, type UnsettledSample } from "./store/samples.ts";

/**
 * Notifies the crowd jobs that posted these samples about a change, then marks them as notified. Samples of a crowd
 * that is not registered in this process are left to a process that registers it.
 */
export async function notifyPosters(
  kernel: Kernel,
  samples: readonly UnsettledSample[],
): Promise<{ readonly id: string; readonly error: unknown }[]> {
  const ours = samples.flatMap((one) => {
    const notice = noticeOf(kernel, one);
    return notice === undefined ? [] : [{ one, notice }];
  });
  if (ours.length === 0) return [];
  const sent = await sendAll(
    kernel,
    ours.map(({ notice }) => notice),
  );
  const notified: UnsettledSample[] = [];
  const failures: { id: string; error: unknown }[] = [];
  for (const [index, { one }] of ours.entries()) {
    const answer = sent[index]!;
    // A job that refuses it has ended, or is about to sync anyway.
    if (answer.ok || answer.error.fault === "request") notified.push(one);
    else failures.push({ id: one.id, error: answer.error });
  }
  if (notified.length > 0) await markSettled(kernel.db, notified);
  return failures;
}

function noticeOf(kernel: Kernel, { data }: UnsettledSample): Send | undefined {
  const { lifecycle: name, id } = (data as SampleData).postedBy!;
  const lifecycle = kernel.lifecycles.get(name);
  if (lifecycle === undefined) return undefined;
  return eventFor(kernel, { lifecycle, id, event: "notice", reason: "An operator decided on it.", source: "pawl" });
}
