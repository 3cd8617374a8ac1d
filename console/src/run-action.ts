import { messageOf, Refused } from "./api.ts";
import { tell } from "./parts/toast.tsx";
import { session } from "./session.ts";

/** Runs an action, and shows a message or its error. */
export async function act(doIt: () => Promise<unknown>, said: string): Promise<void> {
  try {
    await doIt();
    tell(said);
  } catch (thrown) {
    if (thrown instanceof Refused && thrown.signedOut) session.value = null;
    tell(messageOf(thrown), "failed");
  }
}
