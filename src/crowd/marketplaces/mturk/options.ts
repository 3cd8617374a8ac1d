import type { Duration } from "../../../base/duration.ts";
import type { Json } from "../../../base/json.ts";
import type { QuestionParts } from "./form/question.ts";
import type { GivenAnswer } from "./form/question-form-answers.ts";
import type { MturkQualification } from "./hit/qualifications.ts";

/** The keys of an AWS account that is linked with a requester's account. */
export interface MturkCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** Where Mechanical Turk tells what happens; its service needs the right to write there. */
export interface MturkNotify {
  /** The URL of an SQS queue, or the ARN of an SNS topic. */
  readonly to: string;
  /** Of the messages; `"2014-08-15"` unless given. */
  readonly version?: string;
}

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
  /** What workers must have to do it; nine at most. */
  readonly qualifications?: readonly MturkQualification[];
  /** Where it tells what happens, for `mturkNotifications` to read. Jobs are looked at now and then without it, too. */
  readonly notify?: MturkNotify;
  /**
   * Several Pawls that publish with one account, such as for staging and production, need a name each: then each knows
   * only its own jobs.
   */
  readonly scope?: string;
  /** How long one call may take; `"30s"` unless given. */
  readonly requestTimeout?: Duration;
  /** @internal Tests move it. */
  readonly now?: () => number;
}
