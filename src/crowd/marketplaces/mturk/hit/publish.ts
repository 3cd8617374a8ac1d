import type { CreateHITRequest, HIT } from "@aws-sdk/client-mturk";
import { durationMs } from "../../../../base/duration.ts";
import { PermanentError, TransientError } from "../../../../base/step-errors.ts";
import type { MarketplaceContext, Posting } from "../../../marketplace.ts";
import { maxQuestionBytes } from "../form/question.ts";
import { isRefused, type Refused } from "../refused.ts";
import { type Requester, tokenLastsMs } from "../requester.ts";
import { mayPrecede } from "./born.ts";
import { requireNone } from "./exclude-workers.ts";
import { findAnnotated, readHit } from "./hits.ts";
import type { MturkQualification } from "./qualifications.ts";

/** The rest of a job's time can be less than the minimum of the service. */
const shortestSeconds = 30;

/** What workers see, and the qualifications they need. */
export interface Task {
  readonly question: string;
  readonly qualifications: readonly MturkQualification[];
}

/**
 * Creates the HIT of a posting, or finds the one of an earlier attempt. For a day the token keeps the service from
 * creating a second one. The time of the first attempt is unknown, but it is not before the creation of its owner:
 * unless the owner's id is less than a day old, all HITs are searched for the annotation first.
 */
export async function publish(
  requester: Requester,
  posting: Posting,
  { question, qualifications }: Task,
  call: MarketplaceContext,
): Promise<HIT> {
  const annotation = requester.annotations.of(posting);
  checkSize(question);
  if (mayPrecede(posting.owner, requester.now() - tokenLastsMs)) {
    const found = await findAnnotated(requester, annotation, call);
    if (found !== undefined) return found;
  }
  const requirements = [...qualifications, ...(await requireNone(requester, posting, call))];
  const request: CreateHITRequest = {
    ...termsOf(posting),
    Question: question,
    RequesterAnnotation: annotation,
    UniqueRequestToken: posting.token,
    ...(requirements.length > 0 && { QualificationRequirements: requirements }),
  };
  return create(requester, request, call);
}

async function create(requester: Requester, request: CreateHITRequest, call: MarketplaceContext): Promise<HIT> {
  try {
    const { HIT } = await requester.ask("create the HIT", call, (turk, how) => turk.createHIT(request, how));
    if (HIT?.HITId !== undefined) return HIT;
    throw new TransientError("Mechanical Turk created a HIT but returned no id.");
  } catch (error) {
    if (isRefused(error, "HitAlreadyExists", "TokenUsed")) return createdBefore(requester, request, error, call);
    throw error;
  }
}

/** The HIT of an earlier attempt: its id is in the refusal; otherwise it is found by its annotation. */
async function createdBefore(
  requester: Requester,
  { RequesterAnnotation: annotation = "" }: CreateHITRequest,
  refused: Refused,
  call: MarketplaceContext,
): Promise<HIT> {
  for (const id of idsIn(refused.said)) {
    const hit = await readHit(requester, id, call);
    if (hit?.RequesterAnnotation === annotation) return hit;
  }
  const found = await findAnnotated(requester, annotation, call);
  if (found !== undefined) return found;
  throw new TransientError(`The HIT already exists on Mechanical Turk, but is not visible yet: ${refused.said}`, {
    retryAfterMs: 60_000,
    cause: refused,
  });
}

/** What may be the id of a HIT in a sentence; the number at its end is a time. */
export function idsIn(text: string): readonly string[] {
  return (text.match(/\b[A-Z0-9]{16,64}\b/g) ?? []).filter((word) => /[A-Z]/.test(word));
}

function termsOf({ crowd, places, lifetimeMs }: Posting) {
  return {
    Title: crowd.title,
    Description: crowd.description,
    ...(crowd.keywords.length > 0 && { Keywords: crowd.keywords.join(",") }),
    Reward: crowd.reward ?? "0.00",
    MaxAssignments: places,
    LifetimeInSeconds: Math.max(shortestSeconds, Math.round(lifetimeMs / 1_000)),
    AssignmentDurationInSeconds: Math.round(durationMs(crowd.workTime, "workTime") / 1_000),
    AutoApprovalDelayInSeconds: Math.round(durationMs(crowd.approvedAfter, "approvedAfter") / 1_000),
  };
}

function checkSize(question: unknown): void {
  if (typeof question !== "string") throw new PermanentError("The `question` of mturk() must return a string of XML.");
  const bytes = Buffer.byteLength(question);
  if (bytes <= maxQuestionBytes) return;
  throw new PermanentError(
    `The question has ${bytes} bytes; Mechanical Turk accepts ${maxQuestionBytes}. Store large content elsewhere and show a link to it, or pass your own \`question\` to mturk().`,
  );
}
