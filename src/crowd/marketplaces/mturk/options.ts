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

/** The destination of notifications; Mechanical Turk needs the permission to write to it. */
export interface MturkNotify {
  /** The URL of an SQS queue, or the ARN of an SNS topic. */
  readonly to: string;
  /**
   * The version of the messages.
   * @default "2014-08-15"
   */
  readonly version?: string;
}

export interface MturkOptions {
  /**
   * Publishes to real workers, for real money; otherwise all calls go to the sandbox, which pays nothing.
   * @default false
   */
  readonly live?: boolean;
  /** Another address that speaks as Mechanical Turk does. */
  readonly endpoint?: string;
  /**
   * The region of Mechanical Turk, the only one there is.
   * @default "us-east-1"
   */
  readonly region?: string;
  /**
   * The keys, or a function that fetches them.
   * @default the credential chain of the AWS SDK
   */
  readonly credentials?: MturkCredentials | (() => MturkCredentials | Promise<MturkCredentials>);
  /**
   * Makes the page for workers, as the XML of an HTMLQuestion, an ExternalQuestion or a QuestionForm. The name of an
   * input is its path in the answer and its type: `address.city`, `score:number`, `sure:boolean`, `tags:list`,
   * `boxes:json`.
   * @default a page with the content and a form
   */
  readonly question?: (parts: QuestionParts) => string;
  /** Makes the answer from the inputs of such a page, if names are not enough. */
  readonly answer?: (given: readonly GivenAnswer[]) => Json;
  /** What workers must have to do it; nine at most. */
  readonly qualifications?: readonly MturkQualification[];
  /** The destination of notifications, to be read by `mturkNotifications`. Jobs also sync at intervals without it. */
  readonly notify?: MturkNotify;
  /**
   * Several Pawls that publish with one account, such as for staging and production, need a name each: then each knows
   * only its own jobs.
   */
  readonly scope?: string;
  /**
   * The timeout of one call.
   * @default "30s"
   */
  readonly requestTimeout?: Duration;
  /** @internal Tests move it. */
  readonly now?: () => number;
}
