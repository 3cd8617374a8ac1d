import { Refusal } from "./refusal.ts";

export type Request = Readonly<Record<string, unknown>>;

/** Why a value is invalid, or undefined. */
type Check = (value: unknown) => string | undefined;

interface Rule {
  readonly required: boolean;
  readonly check: Check;
}

const text = (most: number, pattern = /^/): Check => {
  return (value) => {
    if (typeof value !== "string" || value === "") return "must be a text";
    if (value.length > most) return `must have ${most} characters at most`;
    return pattern.test(value) ? undefined : `must match ${pattern}`;
  };
};
const integer = (least: number, most: number): Check => {
  return (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
      ? undefined
      : `must be a whole number from ${least} to ${most}`;
};
const seconds: Check = (value) => (typeof value === "number" && value >= 0 ? undefined : "must be epoch seconds");
const flag: Check = (value) => (typeof value === "boolean" ? undefined : "must be true or false");
const listOf = (check: Check, most = Number.POSITIVE_INFINITY): Check => {
  return (value) => {
    if (!Array.isArray(value) || value.length > most) return `must be a list of ${most} at most`;
    return value.map(check).find((fault) => fault !== undefined);
  };
};
const oneOf = (...names: readonly string[]): Check => {
  return (value) => (names.includes(String(value)) ? undefined : `must be one of ${names.join(", ")}`);
};
const requirement: Check = (value) => {
  const { QualificationTypeId, Comparator } = Object(value) as Record<string, unknown>;
  return (
    entity(QualificationTypeId) ?? oneOf("DoesNotExist", "Exists", "EqualTo", "GreaterThanOrEqualTo", "In")(Comparator)
  );
};
const notification: Check = (value) => {
  const { Destination, Transport, Version, EventTypes } = Object(value) as Record<string, unknown>;
  const kind = oneOf("SQS", "SNS", "Email")(Transport) ?? oneOf("2014-08-15", "2006-05-05")(Version);
  return kind ?? text(1_024)(Destination) ?? listOf(text(40, /^(?:Assignment|HIT)[A-Z][a-z]+$/))(EventTypes);
};
const question: Check = (value) => {
  if (typeof value !== "string" || Buffer.byteLength(value) > 65_535) return "must have 65535 bytes at most";
  return /^<(?:HTMLQuestion|ExternalQuestion|QuestionForm)[\s>]/.test(value.trim()) ? undefined : "is no question";
};

const entity = text(64, /^[A-Z0-9]+$/);
const worker = text(64, /^A[A-Z0-9]+$/);
const money = text(20, /^[0-9]+(\.)?[0-9]{0,2}$/);
const token = text(64);
const workSeconds = integer(30, 31_536_000);
const feedback = text(1_024, /^\P{Cc}*$/u);

const must = (check: Check): Rule => ({ required: true, check });
const may = (check: Check): Rule => ({ required: false, check });
const page = { NextToken: may(text(255)), MaxResults: may(integer(1, 100)) };

/** The parameters of each operation; the SDK itself checks nothing. */
const shapes: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  CreateHIT: {
    Title: must(text(128)),
    Description: must(text(2_000)),
    Reward: must(money),
    AssignmentDurationInSeconds: must(workSeconds),
    LifetimeInSeconds: must(workSeconds),
    AutoApprovalDelayInSeconds: may(integer(0, 2_592_000)),
    MaxAssignments: may(integer(1, 1_000_000_000)),
    Keywords: may((value) => (value === "" ? undefined : text(1_000)(value))),
    Question: must(question),
    RequesterAnnotation: may(text(255)),
    UniqueRequestToken: may(token),
    QualificationRequirements: may(listOf(requirement, 10)),
  },
  GetHIT: { HITId: must(entity) },
  ListHITs: page,
  ListAssignmentsForHIT: {
    HITId: must(entity),
    AssignmentStatuses: may(listOf(oneOf("Submitted", "Approved", "Rejected"))),
    ...page,
  },
  GetAssignment: { AssignmentId: must(entity) },
  ApproveAssignment: {
    AssignmentId: must(entity),
    RequesterFeedback: may(feedback),
    OverrideRejection: may(flag),
  },
  RejectAssignment: { AssignmentId: must(entity), RequesterFeedback: must(feedback) },
  CreateAdditionalAssignmentsForHIT: {
    HITId: must(entity),
    NumberOfAdditionalAssignments: must(integer(1, 1_000_000_000)),
    UniqueRequestToken: may(token),
  },
  UpdateExpirationForHIT: { HITId: must(entity), ExpireAt: must(seconds) },
  DeleteHIT: { HITId: must(entity) },
  SendBonus: {
    WorkerId: must(worker),
    BonusAmount: must(money),
    AssignmentId: must(entity),
    Reason: must(text(4_096)),
    UniqueRequestToken: may(token),
  },
  ListBonusPayments: { HITId: may(entity), AssignmentId: may(entity), ...page },
  CreateQualificationType: {
    Name: must(text(200)),
    Description: must(text(2_000)),
    QualificationTypeStatus: must(oneOf("Active", "Inactive")),
  },
  ListQualificationTypes: {
    Query: may(text(200)),
    MustBeRequestable: must(flag),
    MustBeOwnedByCaller: may(flag),
    ...page,
  },
  AssociateQualificationWithWorker: {
    QualificationTypeId: must(entity),
    WorkerId: must(worker),
    IntegerValue: may(integer(0, 2 ** 31 - 1)),
    SendNotification: may(flag),
  },
  DeleteQualificationType: { QualificationTypeId: must(entity) },
  UpdateNotificationSettings: { HITTypeId: must(entity), Notification: may(notification), Active: may(flag) },
  GetAccountBalance: {},
};

/** Refuses parameters that an operation does not have. */
export function checkShape(operation: string, request: Request): void {
  const shape = shapes[operation];
  if (shape === undefined) {
    throw new Refusal(`There is no ${operation}.`, undefined, { type: "UnknownOperationException" });
  }
  for (const name of Object.keys(request)) {
    if (shape[name] === undefined) throw new Refusal(`${operation} takes no ${name}.`, "InvalidParameterValue");
  }
  for (const [name, { required, check }] of Object.entries(shape)) {
    const value = request[name];
    if (value === undefined && !required) continue;
    const fault = value === undefined ? "is missing" : check(value);
    if (fault !== undefined) throw new Refusal(`${name} of ${operation} ${fault}.`, "InvalidParameterValue");
  }
}
