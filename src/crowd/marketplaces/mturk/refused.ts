import { messageOf } from "../../../base/errors.ts";
import { PermanentError, TransientError } from "../../../base/step-errors.ts";

/** The class of an error by code, and the message that identifies it if there is no code. */
const sentences: readonly (readonly [code: string, sentence: RegExp])[] = [
  ["HitAlreadyExists", /\bhit\b.*already exists/i],
  ["TokenUsed", /token.*already been processed/i],
  ["HITDoesNotExist", /\bhit\b.*does not exist/i],
  ["AssignmentDoesNotExist", /assignment\b.*does not exist/i],
  ["InvalidHITState", /hit is currently in the state/i],
  ["InvalidAssignmentState", /called with a status of:/i],
  ["InvalidMaximumAssignmentsIncrease", /maximum.*assignments.*increase/i],
  ["HITTooOldForExtension", /too old.*exten/i],
  ["QualificationTypeAlreadyExists", /already created a QualificationType/i],
];

/** The service refused the request; a retry would be refused, too. `code` comes without its prefix. */
export class Refused extends PermanentError {
  readonly code: string;
  /** Its own words. */
  readonly said: string;

  constructor(doing: string, code: string, said: string) {
    super(`Mechanical Turk refused to ${doing}: ${said} (${code || "no code"})${remedyFor(code)}`);
    this.code = code;
    this.said = said;
  }
}

const remedies: Readonly<Record<string, string>> = {
  InsufficientFunds: "Add prepaid balance to the requester's account, then retry it.",
  NotAuthorized: "Link the AWS account with the requester's account, and allow its user mturk-requester actions.",
  AccessDeniedException: "Allow mturk-requester actions for the user of these credentials.",
  UnrecognizedClientException: "Use credentials of an AWS account that is linked with a requester's account.",
  InvalidSignatureException: "Check the secret access key, and the clock of this machine.",
};

function remedyFor(code: string): string {
  const remedy = remedies[code];
  return remedy === undefined ? "" : `. ${remedy}`;
}

/** Whether something thrown is a refusal for one of these reasons. */
export function isRefused(thrown: unknown, ...codes: readonly string[]): thrown is Refused {
  return thrown instanceof Refused && codes.includes(thrown.code);
}

/** The parts of an error of the SDK by which it is classified. */
interface ErrorText {
  readonly name?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly TurkErrorCode?: unknown;
}

const passing =
  /^(?:Throttl|TooManyRequests|RequestLimitExceeded|SlowDown|ServiceUnavailable|InternalFailure|ExpiredToken|RequestExpired|RequestTimeTooSkewed)/;

/**
 * Classifies a failed call: a refusal if the service answered with one, else a transient error. There is no complete
 * list of codes, and older errors have none: then the message decides, and an unknown message counts as a refusal,
 * since an error of the request does not resolve itself. The error of the SDK is not passed on: it contains the request
 * with its signature.
 */
export function whatFailed(thrown: unknown, doing: string): Refused | TransientError {
  const { name, $metadata, TurkErrorCode } = (typeof thrown === "object" && thrown !== null ? thrown : {}) as ErrorText;
  const said = messageOf(thrown);
  const kind = typeof name === "string" ? name : "";
  const status = $metadata?.httpStatusCode;
  if (kind === "CredentialsProviderError") {
    const remedy = "Pass `credentials`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.";
    return new TransientError(`Could not ${doing}: no credentials: ${said} ${remedy}`);
  }
  const isAnswer = status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429;
  if (!isAnswer || passing.test(kind) || /^rate exceeded/i.test(said)) {
    return new TransientError(`Mechanical Turk could not ${doing}: ${said}`);
  }
  return new Refused(doing, codeOf(TurkErrorCode, said) ?? (kind === "RequestError" ? "" : kind), said);
}

function codeOf(given: unknown, said: string): string | undefined {
  const code = typeof given === "string" ? given.replace(/^AWS\.(?:MechanicalTurk\.)?/, "") : "";
  if (code.toLowerCase() === "hitalreadyexists") return "HitAlreadyExists"; // Spelt in two ways.
  if (sentences.some(([known]) => known === code)) return code;
  return sentences.find(([, sentence]) => sentence.test(said))?.[0] ?? (code || undefined);
}
