import { availableOf, type HitRecord, shownAssignment, shownHit, statusOf } from "./records.ts";
import { Refusal, wrongState } from "./refusal.ts";
import type { Request } from "./shapes.ts";
import type { World } from "./world.ts";

type Operation = (world: World, request: Request) => Readonly<Record<string, unknown>>;

const number = (value: unknown): number => Number(value);

function pay(world: World, amount: number): void {
  if (amount > world.balance) throw new Refusal("This account has insufficient funds.", "InsufficientFunds");
  world.balance -= amount;
}

const createHit: Operation = (world, request) => {
  const before = world.madeBefore("CreateHIT", request.UniqueRequestToken);
  if (before !== undefined) {
    throw new Refusal(`The HIT ${before} already exists for this UniqueRequestToken.`, "HitAlreadyExists");
  }
  const places = number(request.MaxAssignments ?? 1);
  pay(world, places * number(request.Reward) * (places >= 10 ? 1.4 : 1.2));
  const required = (request.QualificationRequirements ?? []) as { QualificationTypeId: string; Comparator: string }[];
  const hit: HitRecord = {
    id: world.ids.next(),
    type: world.ids.next(),
    terms: request,
    createdAt: world.now,
    placesAtFirst: places,
    places,
    assignments: [],
    requiredNone: required.filter((one) => one.Comparator === "DoesNotExist").map((one) => one.QualificationTypeId),
    expiresAt: world.now + number(request.LifetimeInSeconds) * 1_000,
    disposed: false,
  };
  world.hits.set(hit.id, hit);
  world.remember("CreateHIT", request.UniqueRequestToken, hit.id);
  world.notify("HITCreated", hit);
  return { HIT: shownHit(hit, world.now) };
};

const addPlaces: Operation = (world, request) => {
  const { HITId, NumberOfAdditionalAssignments: more, UniqueRequestToken: token } = request;
  if (world.madeBefore("CreateAdditional", token) !== undefined) throw new Refusal(world.usedTokenText(String(token)));
  const hit = living(world, HITId);
  const places = hit.places + number(more);
  if (hit.placesAtFirst < 10 && places >= 10) {
    const text = "A HIT created with fewer than 10 assignments cannot have its maximum assignments increased to 10.";
    throw new Refusal(text, "InvalidMaximumAssignmentsIncrease");
  }
  pay(world, number(more) * number(hit.terms.Reward) * (places >= 10 ? 1.4 : 1.2));
  hit.places = places;
  world.remember("CreateAdditional", token, hit.id);
  world.notify("HITExtended", hit);
  return {};
};

/** It makes a token of its own from the HIT and the time, so the same time a second time is refused. */
const updateExpiration: Operation = (world, { HITId, ExpireAt }) => {
  const hit = living(world, HITId);
  const at = number(ExpireAt) * 1_000;
  const token = `${hit.id}${new Date(Math.floor(at / 1_000) * 1_000).toUTCString()}`;
  if (world.madeBefore("UpdateExpiration", token) !== undefined) throw new Refusal(world.usedTokenText(token));
  if (at > world.now && at < hit.expiresAt) {
    throw new Refusal("The expiration cannot be shortened, only set to the past.", "InvalidParameterValue");
  }
  hit.expiresAt = Math.max(at, world.now);
  world.remember("UpdateExpiration", token, hit.id);
  world.notify(at > world.now ? "HITExtended" : "HITExpired", hit);
  if (at <= world.now) world.tellIfReviewable(hit);
  return {};
};

const deleteHit: Operation = (world, { HITId }) => {
  const hit = world.hit(HITId);
  const status = statusOf(hit, world.now);
  const isDecided = hit.assignments.every((one) => one.status === "Approved" || one.status === "Rejected");
  if (status !== "Reviewable" || !isDecided) {
    const text = `This HIT is currently in the state '${status}'. This operation can be called with a status of: Reviewing, Reviewable`;
    throw new Refusal(text, "InvalidHITState");
  }
  hit.disposed = true;
  world.balance += availableOf(hit) * number(hit.terms.Reward);
  world.notify("HITDisposed", hit);
  return {};
};

function living(world: World, id: unknown): HitRecord {
  const hit = world.hit(id);
  if (!hit.disposed) return hit;
  throw new Refusal("This HIT is currently in the state 'Disposed'.", "InvalidHITState");
}

const decide = (status: "Approved" | "Rejected"): Operation => {
  return (world, { AssignmentId, RequesterFeedback: feedback }) => {
    const one = world.assignment(AssignmentId);
    if (one.status === "Accepted" || world.now < one.visibleAt) throw wrongState("null");
    if (one.status !== "Submitted") throw wrongState("Submitted");
    world.settle(one, status, feedback === undefined ? undefined : String(feedback));
    return {};
  };
};

const getAssignment: Operation = (world, { AssignmentId }) => {
  const one = world.assignment(AssignmentId);
  if (one.status === "Accepted") throw wrongState("Reviewable,Approved,Rejected");
  return { Assignment: shownAssignment(one), HIT: shownHit(one.hit, world.now) };
};

const sendBonus: Operation = (world, request) => {
  const { UniqueRequestToken: token, WorkerId, BonusAmount, AssignmentId, Reason } = request;
  if (world.madeBefore("SendBonus", token) !== undefined) throw new Refusal(world.usedTokenText(String(token)));
  if (world.assignment(AssignmentId).worker !== WorkerId) {
    throw new Refusal("This worker did not do this assignment.", "InvalidParameterValue");
  }
  pay(world, number(BonusAmount));
  world.payments.push({ WorkerId, BonusAmount, AssignmentId, Reason, GrantTime: world.now / 1_000 });
  world.remember("SendBonus", token, String(AssignmentId));
  return {};
};

const createQualification: Operation = (world, { Name }) => {
  if ([...world.qualifications.values()].some(({ name }) => name === Name)) {
    const text = "You have already created a QualificationType with this name.";
    throw new Refusal(text, "QualificationTypeAlreadyExists");
  }
  const id = world.ids.next();
  world.qualifications.set(id, { name: String(Name), workers: new Set() });
  return { QualificationType: { QualificationTypeId: id, Name } };
};

const giveQualification: Operation = (world, { QualificationTypeId, WorkerId }) => {
  const qualification = world.qualifications.get(String(QualificationTypeId));
  if (qualification === undefined) throw new Refusal("There is no such QualificationType.", "InvalidParameterValue");
  qualification.workers.add(String(WorkerId));
  return {};
};

const deleteQualification: Operation = (world, { QualificationTypeId }) => {
  if (!world.qualifications.delete(String(QualificationTypeId))) {
    throw new Refusal("There is no such QualificationType.", "QualificationTypeDoesNotExist");
  }
  return {};
};

const updateNotification: Operation = (world, { HITTypeId, Notification }) => {
  world.subscriptions.set(String(HITTypeId), Notification);
  return {};
};

/** A page of a list, ten by default, with the start of the next one. */
function pageOf(name: string, all: readonly unknown[], { NextToken, MaxResults }: Request): Record<string, unknown> {
  const from = NextToken === undefined ? 0 : Number(Buffer.from(String(NextToken), "base64").toString());
  const shown = all.slice(from, from + number(MaxResults ?? 10));
  const to = from + shown.length;
  const next = to < all.length ? { NextToken: Buffer.from(String(to)).toString("base64") } : {};
  return { [name]: shown, NumResults: shown.length, ...next };
}

const listHits: Operation = (world, request) => {
  const living = [...world.hits.values()].filter((hit) => !hit.disposed).reverse();
  return pageOf(
    "HITs",
    living.map((hit) => shownHit(hit, world.now)),
    request,
  );
};

const listAssignments: Operation = (world, request) => {
  const wanted = (request.AssignmentStatuses ?? ["Submitted", "Approved", "Rejected"]) as readonly string[];
  const all = living(world, request.HITId).assignments.filter(({ status }) => wanted.includes(status));
  return pageOf("Assignments", all.map(shownAssignment), request);
};

const listBonuses: Operation = (world, request) => {
  const all = world.payments.filter((payment) => payment.AssignmentId === request.AssignmentId);
  return pageOf("BonusPayments", all, request);
};

const listQualifications: Operation = (world, request) => {
  const all = [...world.qualifications].filter(([, { name }]) => name.includes(String(request.Query ?? "")));
  return pageOf(
    "QualificationTypes",
    all.map(([id, { name }]) => ({ QualificationTypeId: id, Name: name })),
    request,
  );
};

export const operations: Readonly<Record<string, Operation>> = {
  CreateHIT: createHit,
  GetHIT: (world, { HITId }) => ({ HIT: shownHit(world.hit(HITId), world.now) }),
  ListHITs: listHits,
  ListAssignmentsForHIT: listAssignments,
  GetAssignment: getAssignment,
  ApproveAssignment: decide("Approved"),
  RejectAssignment: decide("Rejected"),
  CreateAdditionalAssignmentsForHIT: addPlaces,
  UpdateExpirationForHIT: updateExpiration,
  DeleteHIT: deleteHit,
  SendBonus: sendBonus,
  ListBonusPayments: listBonuses,
  CreateQualificationType: createQualification,
  ListQualificationTypes: listQualifications,
  AssociateQualificationWithWorker: giveQualification,
  DeleteQualificationType: deleteQualification,
  UpdateNotificationSettings: updateNotification,
  GetAccountBalance: (world) => ({ AvailableBalance: world.balance.toFixed(2) }),
};
