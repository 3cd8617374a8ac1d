import { defineConfig } from "pawl";
import { submissionLifecycle } from "./submission.ts";

/** For `pawl check`, and for a look at what the simulation left. Nobody sends from here: messages wait in the outbox. */
export default defineConfig({ lifecycles: [submissionLifecycle()] });
