import type { LifecycleModel } from "../../definition/model.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Send } from "../../kernel/types/send.ts";

/** An event to send to a sample or an assignment, with the defaults of a call. */
export function eventFor(
  kernel: Kernel,
  given: Pick<Send, "event"> &
    Partial<Omit<Send, "ref" | "lifecycle">> & { readonly lifecycle: LifecycleModel; readonly id: string },
): Send {
  const { id, ...rest } = given;
  return {
    ref: { id },
    payload: undefined,
    actor: null,
    reason: null,
    expectedVersion: undefined,
    idempotency: undefined,
    delay: undefined,
    requestId: kernel.newId(),
    ...rest,
  };
}
