import { durationMs } from "../../../base/duration.ts";
import { PawlError } from "../../../base/errors.ts";
import { compute } from "../../../base/guard.ts";
import type { Json } from "../../../base/json.ts";
import { checkedOptions, optionNames } from "../../../base/options.ts";
import type { AnyCrowd } from "../../../definition/crowd.ts";
import { settleWithin } from "../../../kernel/time-limit.ts";
import type {
  Bonus,
  Decided,
  Decision,
  Extension,
  Marketplace,
  MarketplaceContext,
  Posting,
  RemoteJob,
  RemoteSubmission,
} from "../../marketplace.ts";
import { payBonus } from "./bonus.ts";
import { checkCrowd } from "./check-crowd.ts";
import { decide } from "./decide.ts";
import { readAnswer } from "./form/answer.ts";
import { checkForm, htmlQuestion, type QuestionParts } from "./form/question.ts";
import { Annotations } from "./hit/annotation.ts";
import { close, dispose } from "./hit/end-hit.ts";
import { extend } from "./hit/extend.ts";
import { jobOf, readHit, readHits } from "./hit/hits.ts";
import { publish } from "./hit/publish.ts";
import { checkedQualifications, type MturkQualification } from "./hit/qualifications.ts";
import { Notifying } from "./notify.ts";
import type { MturkOptions } from "./options.ts";
import { Requester } from "./requester.ts";
import { readSubmissions } from "./submissions.ts";

const sites = {
  live: { endpoint: "https://mturk-requester.us-east-1.amazonaws.com", submitTo: "https://www.mturk.com" },
  sandbox: {
    endpoint: "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
    submitTo: "https://workersandbox.mturk.com",
  },
};

/**
 * Amazon Mechanical Turk as a marketplace; its sandbox by default. Requires the package
 * `@aws-sdk/client-mturk`.
 *
 * ```ts
 * import { createPawl } from "pawl";
 * import { mturk } from "pawl/mturk";
 * createPawl({ lifecycles: [], crowds: [receipts], marketplaces: { mturk: mturk({ live: true }) } });
 * ```
 */
export function mturk(options: MturkOptions = {}): Marketplace {
  return new MechanicalTurk(checkedOptions(options, known, "mturk"));
}

const known = optionNames<MturkOptions>({
  live: true,
  endpoint: true,
  region: true,
  credentials: true,
  question: true,
  answer: true,
  qualifications: true,
  notify: true,
  scope: true,
  requestTimeout: true,
  now: true,
});

class MechanicalTurk implements Marketplace {
  readonly title = "Mechanical Turk";
  readonly can = { rejectionReopens: false, bonus: true };
  readonly sandbox: boolean;
  readonly #requester: Requester;
  readonly #notifying: Notifying | undefined;
  readonly #qualifications: readonly MturkQualification[];
  readonly #question: (parts: QuestionParts) => string;
  readonly #checkForm: (crowd: AnyCrowd) => readonly string[];
  readonly #read: (xml: string) => Json;

  constructor(options: MturkOptions) {
    this.sandbox = !isLive(options);
    const site = sites[this.sandbox ? "sandbox" : "live"];
    const { endpoint = site.endpoint, region = "us-east-1", credentials, question, answer } = options;
    const timeoutMs = durationMs(options.requestTimeout ?? "30s", "requestTimeout");
    this.#requester = new Requester({
      endpoint: checkedEndpoint(endpoint),
      region,
      credentials:
        typeof credentials === "function"
          ? () => settleWithin(timeoutMs, "`credentials` of mturk()", credentials)
          : credentials,
      timeoutMs,
      now: options.now ?? Date.now,
      annotations: new Annotations(options.scope),
    });
    this.#notifying = options.notify === undefined ? undefined : new Notifying(this.#requester, options.notify);
    this.#qualifications = checkedQualifications(options.qualifications ?? []);
    this.#checkForm = question === undefined ? checkForm : () => [];
    this.#question = question ?? ((parts) => htmlQuestion(parts, site.submitTo));
    this.#read = (xml) => readAnswer(xml, answer);
  }

  check(crowd: AnyCrowd): readonly string[] {
    return [...checkCrowd(crowd), ...this.#checkForm(crowd)];
  }

  async publish(posting: Posting, call: MarketplaceContext): Promise<RemoteJob> {
    const question: unknown = compute("hook_failed", "`question` of mturk()", () => this.#question(posting));
    if (typeof question !== "string") {
      throw new PawlError("hook_failed", "`question` of mturk() must return a string: the XML of a question.");
    }
    const task = { question, qualifications: this.#qualifications };
    const hit = await publish(this.#requester, posting, task, call);
    if (hit.HITTypeId !== undefined) await this.#notifying?.ofType(hit.HITTypeId, call);
    return jobOf(this.#requester, hit);
  }

  async job(id: string, call: MarketplaceContext): Promise<RemoteJob | undefined> {
    const hit = await readHit(this.#requester, id, call);
    return hit === undefined ? undefined : jobOf(this.#requester, hit);
  }

  async jobs(
    after: string | undefined,
    call: MarketplaceContext,
  ): Promise<{ jobs: readonly RemoteJob[]; next?: string }> {
    const { hits, NextToken: next } = await readHits(this.#requester, after, call);
    return { jobs: hits.map((hit) => jobOf(this.#requester, hit)), ...(next !== undefined && { next }) };
  }

  submissions(job: string, call: MarketplaceContext): Promise<readonly RemoteSubmission[]> {
    return readSubmissions(this.#requester, job, this.#read, call);
  }

  decide(submission: string, decision: Decision, call: MarketplaceContext): Promise<Decided> {
    return decide(this.#requester, submission, decision, call);
  }

  extend(job: string, extension: Extension, call: MarketplaceContext): Promise<RemoteJob> {
    return extend(this.#requester, job, extension, call);
  }

  close(job: string, call: MarketplaceContext): Promise<void> {
    return close(this.#requester, job, call);
  }

  dispose(job: string, call: MarketplaceContext): Promise<void> {
    return dispose(this.#requester, job, call);
  }

  bonus(bonus: Bonus, call: MarketplaceContext): Promise<void> {
    return payBonus(this.#requester, bonus, call);
  }

  async balance(call: MarketplaceContext): Promise<string | null> {
    const { AvailableBalance } = await this.#requester.ask("read the balance", call, (turk, how) =>
      turk.getAccountBalance({}, how),
    );
    return AvailableBalance ?? null;
  }

  shutdown(): Promise<void> {
    return this.#requester.close();
  }
}

/** Only `live: true` spends money. */
function isLive({ live = false }: MturkOptions): boolean {
  if (typeof live === "boolean") return live;
  throw new PawlError("option_invalid", "`live` of mturk() must be true for real workers, or false for the sandbox.");
}

function checkedEndpoint(endpoint: unknown): string {
  const protocol = typeof endpoint === "string" && URL.canParse(endpoint) ? new URL(endpoint).protocol : undefined;
  if (protocol === "https:" || protocol === "http:") return endpoint as string;
  throw new PawlError("option_invalid", "`endpoint` must be a URL such as https://mturk.internal.");
}
