import type { Duration } from "../base/duration.ts";
import type { Pawl } from "../pawl.ts";
import { causeOf, type Verb } from "./named.ts";
import type { Arguments } from "./request.ts";

type Dead = Pawl["dead"];
type Filter = Parameters<Dead["requeue"]>[0];
type Decision = Parameters<Dead["preview"]>[0];
type Which = Parameters<Dead["restore"]>[0];
type TicketStatus = NonNullable<NonNullable<Parameters<Dead["tickets"]>[0]>["status"]>;

const filter = ["id", "lifecycle", "kind", "origin", "because", "fingerprint", "from", "to", "all"];
const cause = ["actor", "reason"];

/** The verbs about dead letters in numbers. The reason of a letter is called `because`: `reason` is why one decides. */
export const deadVerbs: readonly (readonly [string, Verb])[] = [
  ["deadGroups", { takes: [...filter, "limit"], answer: groups }],
  ["previewDeadLetters", { takes: ["decision", "restart", ...filter], answer: preview }],
  ["requeueDeadLetters", { takes: [...filter, "restart", "rate", ...cause], answer: requeue }],
  ["discardDeadLetters", { takes: [...filter, "rate", ...cause], answer: discard }],
  ["operation", { takes: ["id", "carryOn"], answer: operation }],
  ["operations", { takes: ["limit"], answer: (pawl, args) => pawl.dead.operations(limitOf(args)) }],
  [
    "abortOperation",
    { takes: ["id", ...cause], answer: (pawl, args) => pawl.dead.abort(args.text("id"), givenOf(causeOf(args))) },
  ],
  ["tickets", { takes: ["status", "takenBy", "limit", "after"], answer: tickets }],
  [
    "takeTicket",
    { takes: ["id", "actor"], answer: (pawl, args) => pawl.dead.take(args.text("id"), { actor: args.text("actor") }) },
  ],
  ["resolveTicket", { takes: ["id", ...cause], answer: resolve }],
  ["archiveDeadLetters", { takes: ["olderThan"], answer: archive }],
  ["archives", { takes: ["limit"], answer: (pawl, args) => pawl.dead.archives(limitOf(args)) }],
  ["restoreDeadLetters", { takes: ["file", "id", "all"], answer: restore }],
];

function groups(pawl: Pawl, args: Arguments): Promise<unknown> {
  const given = filterOf(args);
  const isEmpty = Object.keys(given).length === 0;
  return pawl.dead.groups(isEmpty ? { all: true } : given, limitOf(args));
}

function preview(pawl: Pawl, args: Arguments): Promise<unknown> {
  return pawl.dead.preview(args.text("decision") as Decision, filterOf(args), { restart: args.flag("restart") });
}

function requeue(pawl: Pawl, args: Arguments): Promise<unknown> {
  const options = { rate: args.number("rate"), restart: args.flag("restart"), ...causeOf(args) };
  return pawl.dead.requeue(filterOf(args), options);
}

function discard(pawl: Pawl, args: Arguments): Promise<unknown> {
  return pawl.dead.discard(filterOf(args), { rate: args.number("rate"), ...causeOf(args) });
}

function operation(pawl: Pawl, args: Arguments): Promise<unknown> {
  const id = args.text("id");
  return args.flag("carryOn") ? pawl.dead.carryOn(id) : pawl.dead.operation(id);
}

function tickets(pawl: Pawl, args: Arguments): Promise<unknown> {
  const after = args.optionalText("after");
  return pawl.dead.tickets(
    givenOf({
      status: args.optionalText("status") as TicketStatus | undefined,
      takenBy: args.optionalText("takenBy"),
      limit: args.number("limit"),
      after: after === undefined ? undefined : { id: after },
    }),
  );
}

function resolve(pawl: Pawl, args: Arguments): Promise<unknown> {
  return pawl.dead.resolve(args.text("id"), { actor: args.text("actor"), reason: args.text("reason") });
}

function archive(pawl: Pawl, args: Arguments): Promise<unknown> {
  return pawl.dead.archive(givenOf({ olderThan: args.optionalText("olderThan") as Duration | undefined }));
}

function restore(pawl: Pawl, args: Arguments): Promise<unknown> {
  const all = args.flag("all") || undefined;
  return pawl.dead.restore(givenOf({ file: args.texts("file"), id: args.texts("id"), all }) as Which);
}

function filterOf(args: Arguments): Filter {
  return givenOf({
    id: args.texts("id"),
    lifecycle: args.optionalText("lifecycle"),
    kind: args.optionalText("kind") as Filter["kind"],
    origin: args.optionalText("origin"),
    reason: args.optionalText("because"),
    fingerprint: args.optionalText("fingerprint"),
    from: args.moment("from"),
    to: args.moment("to"),
    all: args.flag("all") ? true : undefined,
  }) as Filter;
}

function limitOf(args: Arguments): { limit?: number } {
  return givenOf({ limit: args.number("limit") });
}

type Given<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** Without what was left out. */
function givenOf<T extends object>(all: T): Given<T> {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Given<T>;
}
