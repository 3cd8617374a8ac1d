import { defineConfig } from "pawl";
import { assessment } from "./assessment.ts";
import { servicesAt } from "./services/clients.ts";

const { CODE_CHECKER, PLAGIARISM_INDEX, PROCTORING, VERDICTS } = process.env;
const nowhere = "http://127.0.0.1:9";

/** For `pawl check`, and to inspect the result of the simulation; its own services have ended by then. */
const { lifecycles, breakers } = assessment(
  servicesAt({
    checker: CODE_CHECKER ?? nowhere,
    plagiarism: PLAGIARISM_INDEX ?? nowhere,
    proctoring: PROCTORING ?? nowhere,
    verdicts: VERDICTS ?? nowhere,
  }),
);

export default defineConfig({ lifecycles, breakers });
