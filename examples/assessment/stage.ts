import type { Pawl } from "pawl";
import { type Assessment, assessment } from "./assessment.ts";
import { minutesOf } from "./minutes.ts";
import { type Addresses, servicesAt } from "./services/clients.ts";
import { type CodeChecker, startCodeChecker } from "./services/code-checker.ts";
import { type Answer, listen, type Request } from "./services/listen.ts";
import { startPlagiarismIndex } from "./services/plagiarism-index.ts";
import { startProctoring } from "./services/proctoring.ts";
import type { Trouble } from "./services/trouble.ts";
import { verdictsFor } from "./verdicts.ts";

/** The lifecycles of an assessment, and all that they need around them. */
export interface Stage extends Assessment {
  readonly checker: CodeChecker;
  readonly addresses: Addresses;
  /** From now on this Pawl receives verdicts. Before, the checker cannot connect. */
  takeVerdictsTo(pawl: Pawl): void;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts the services and the endpoint for verdicts, each on a free port of this machine. Services that do not answer
 * within two minutes, or `patienceMs`, are not waited for.
 */
export async function setStage(
  trouble: Trouble,
  options: { minuteMs?: number; patienceMs?: number } = {},
): Promise<Stage> {
  let take: (request: Request) => Promise<Answer> = async () => ({ status: 503 });
  const verdicts = await listen((request) => take(request));
  const checker = await startCodeChecker(trouble);
  const plagiarism = await startPlagiarismIndex(trouble);
  const proctoring = await startProctoring(trouble);
  const addresses = {
    checker: checker.url,
    plagiarism: plagiarism.url,
    proctoring: proctoring.url,
    verdicts: verdicts.url,
  };
  const made = assessment(servicesAt(addresses, options.patienceMs ?? minutesOf(options.minuteMs)(2)), options);
  const close = async () => {
    await Promise.all([checker, verdicts, plagiarism, proctoring].map((one) => one.close()));
  };
  return {
    ...made,
    checker,
    addresses,
    takeVerdictsTo(pawl) {
      take = verdictsFor(pawl, made.solve);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
