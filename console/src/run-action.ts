import { messageOf, Refused } from "./api.ts";
import { showToast } from "./parts/toast.tsx";
import { session } from "./session.ts";

/** Runs an action, and shows a message or its error. */
export async function runAction(doIt: () => Promise<unknown>, said: string): Promise<void> {
  try {
    await doIt();
    showToast(said);
  } catch (thrown) {
    if (thrown instanceof Refused && thrown.signedOut) session.value = null;
    showToast(messageOf(thrown), "failed");
  }
}
