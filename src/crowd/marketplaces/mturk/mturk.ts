import { type Duration, durationMs } from "../../../base/duration.ts";
import { PawlError } from "../../../base/errors.ts";
import type { Json } from "../../../base/json.ts";
import type { AnyCrowd } from "../../../definition/crowd.ts";
import type {
  Bonus,
  Call,
  Decided,
  Decision,
  Extension,
  Marketplace,
  Posting,
  RemoteJob,
  RemoteSubmission,
} from "../../marketplace.ts";
import { readAnswer } from "./answer.ts";
import { payBonus } from "./bonus.ts";
import { checkCrowd } from "./check-crowd.ts";
import type { MturkCredentials } from "./credentials.ts";
import { decide } from "./decide.ts";
import { close, dispose } from "./end-hit.ts";
import { extend } from "./extend.ts";
import { jobOf, readHit, readHits } from "./hits.ts";
import { publish } from "./publish.ts";
import { htmlQuestion, type QuestionParts } from "./question.ts";
import type { GivenAnswer } from "./question-form-answers.ts";
import { Requester } from "./requester.ts";
import { readSubmissions } from "./submissions.ts";

export interface MturkOptions {
  /** Real workers and real money. Without it everything goes to the sandbox, where nobody is paid. */
  readonly live?: boolean;
  /** True says what is so anyway, unless `live` is true. */
  readonly sandbox?: boolean;
  /** Another address that speaks as Mechanical Turk does. */
  readonly endpoint?: string;
  /** `"us-east-1"` unless given: there is no other. */
  readonly region?: string;
  /** The keys, or a function that fetches them; unless given, what the AWS SDK finds where it looks. */
  readonly credentials?: MturkCredentials | (() => MturkCredentials | Promise<MturkCredentials>);
  /**
   * Makes what workers see, as the XML of an HTMLQuestion, an ExternalQuestion or a QuestionForm. Unless given, a page with
   * the content and a form. An input's name says where in the answer it goes and what it is: `address.city`,
   * `score:number`, `sure:boolean`, `tags:list`, `boxes:json`.
   */
  readonly question?: (parts: QuestionParts) => string;
  /** Makes the answer from what came back for such a question, if names are not enough. */
  readonly answer?: (given: readonly GivenAnswer[]) => Json;
  /** How long one call may take; `"30s"` unless given. */
  readonly requestTimeout?: Duration;
  /** @internal Tests move it. */
  readonly now?: () => number;
}

const sites = {
  live: { endpoint: "https://mturk-requester.us-east-1.amazonaws.com", submitTo: "https://www.mturk.com" },
  sandbox: {
    endpoint: "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
    submitTo: "https://workersandbox.mturk.com",
  },
};

/**
 * Amazon Mechanical Turk as a marketplace, its sandbox unless `live: true` is said. It needs the package
 * `@aws-sdk/client-mturk`.
 *
 * ```ts
 * import { mturk } from "pawl/mturk";
 * createPawl({ crowds: [receipts], marketplaces: { mturk: mturk({ live: true }) } });
 * ```
 */
export function mturk(options: MturkOptions = {}): Marketplace {
  return new MechanicalTurk(options);
}

class MechanicalTurk implements Marketplace {
  readonly title = "Mechanical Turk";
  readonly can = { rejectionReopens: false, bonus: true };
  readonly #requester: Requester;
  readonly #question: (parts: QuestionParts) => string;
  readonly #read: (xml: string) => Json;

  constructor(options: MturkOptions) {
    const site = sites[isLive(options) ? "live" : "sandbox"];
    const { endpoint = site.endpoint, region = "us-east-1", credentials, question, answer } = options;
    this.#requester = new Requester({
      endpoint: checkedEndpoint(endpoint),
      region,
      credentials: typeof credentials === "function" ? async () => credentials() : credentials,
      timeoutMs: durationMs(options.requestTimeout ?? "30s", "requestTimeout"),
      now: options.now ?? Date.now,
    });
    this.#question = question ?? ((parts) => htmlQuestion(parts, site.submitTo));
    this.#read = (xml) => readAnswer(xml, answer);
  }

  check(crowd: AnyCrowd): readonly string[] {
    return checkCrowd(crowd);
  }

  async publish(posting: Posting, call: Call): Promise<RemoteJob> {
    return publish(this.#requester, posting, this.#question(posting), call);
  }

  async job(id: string, call: Call): Promise<RemoteJob | undefined> {
    const hit = await readHit(this.#requester, id, call);
    return hit === undefined ? undefined : jobOf(hit);
  }

  async jobs(after: string | undefined, call: Call): Promise<{ jobs: readonly RemoteJob[]; next?: string }> {
    const { hits, NextToken: next } = await readHits(this.#requester, after, call);
    return { jobs: hits.map(jobOf), ...(next !== undefined && { next }) };
  }

  submissions(job: string, call: Call): Promise<readonly RemoteSubmission[]> {
    return readSubmissions(this.#requester, job, this.#read, call);
  }

  decide(submission: string, decision: Decision, call: Call): Promise<Decided> {
    return decide(this.#requester, submission, decision, call);
  }

  extend(job: string, extension: Extension, call: Call): Promise<RemoteJob> {
    return extend(this.#requester, job, extension, call);
  }

  close(job: string, call: Call): Promise<void> {
    return close(this.#requester, job, call);
  }

  dispose(job: string, call: Call): Promise<void> {
    return dispose(this.#requester, job, call);
  }

  bonus(bonus: Bonus, call: Call): Promise<void> {
    return payBonus(this.#requester, bonus, call);
  }

  async balance(call: Call): Promise<string | null> {
    const { AvailableBalance } = await this.#requester.ask("read the balance", call, (turk, how) =>
      turk.getAccountBalance({}, how),
    );
    return AvailableBalance ?? null;
  }

  end(): Promise<void> {
    return this.#requester.end();
  }
}

/** Money is spent only where that is said, and not where the opposite is said too. */
function isLive({ live = false, sandbox = !live }: MturkOptions): boolean {
  if (typeof live !== "boolean" || typeof sandbox !== "boolean" || live === sandbox) {
    throw new PawlError("option_invalid", "mturk() takes `live: true` for real workers, or `sandbox: true`; not both.");
  }
  return live;
}

function checkedEndpoint(endpoint: unknown): string {
  const protocol = typeof endpoint === "string" && URL.canParse(endpoint) ? new URL(endpoint).protocol : undefined;
  if (protocol === "https:" || protocol === "http:") return endpoint as string;
  throw new PawlError("option_invalid", "`endpoint` must be a URL such as https://mturk.internal.");
}
