import { defineConfig } from "pawl";
import { submissionLifecycle } from "./submission.ts";

/**
 * For `pawl check`, and to inspect the result of the simulation. There is no relay here: messages wait in the outbox.
 */
export default defineConfig({ lifecycles: [submissionLifecycle()] });
