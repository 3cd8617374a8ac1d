import type { LifecycleModel } from "../../definition/model.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Send } from "../../kernel/types/send.ts";

/** An event on its way to a sample or an assignment, with what a call has unless it says otherwise. */
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
