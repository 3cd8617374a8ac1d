import { PawlError } from "../base/errors.ts";
import type { CallbacksOptions, GivenError } from "../given.ts";
import type { Pawl } from "../pawl.ts";
import { causeOf, lifecycleMeant, lifecycleOf, refOf, type Verb } from "./named.ts";
import type { Arguments } from "./request.ts";

const instance = ["lifecycle", "key", "id"];

/** The verbs about what comes in from outside. */
export const callbackVerbs: readonly (readonly [string, Verb])[] = [
  ["callbacks", { takes: [...instance, "status", "late", "limit", "after"], answer: callbacks }],
  ["callback", { takes: ["id"], answer: callback }],
  ["receive", { takes: [...instance, "event", "payload", "error", "dedupe", "actor"], answer: receive }],
  ["acceptLate", { takes: ["id", "actor", "reason"], answer: acceptLate }],
];

async function callbacks(pawl: Pawl, args: Arguments): Promise<unknown> {
  const after = args.optionalText("after");
  const isOfOne = args.has("key") || args.has("id");
  const ofAll = args.has("lifecycle") ? lifecycleOf(pawl, args) : undefined;
  return pawl.callbacks({
    lifecycle: isOfOne ? await lifecycleMeant(pawl, args) : ofAll,
    instance: isOfOne ? refOf(args) : undefined,
    status: args.optionalText("status") as CallbacksOptions["status"],
    late: args.flag("late"),
    limit: args.number("limit"),
    after: after === undefined ? undefined : { id: after },
  });
}

async function callback(pawl: Pawl, args: Arguments): Promise<unknown> {
  const id = args.text("id");
  const found = await pawl.callback(id);
  if (found !== undefined) return found;
  throw new PawlError("callback_unknown", `There is no callback with the id ${id}.`, { callback: id });
}

async function receive(pawl: Pawl, args: Arguments): Promise<unknown> {
  const lifecycle = await lifecycleMeant(pawl, args);
  const [event, options] = [args.text("event"), { dedupe: args.text("dedupe"), actor: args.optionalText("actor") }];
  if (args.has("error")) {
    const error = args.value("error") as GivenError;
    return pawl.receiveError(lifecycle, refOf(args), event, error, options);
  }
  return pawl.receive(lifecycle, refOf(args), event, args.value("payload"), options);
}

function acceptLate(pawl: Pawl, args: Arguments): Promise<unknown> {
  return pawl.acceptLate(args.text("id"), causeOf(args));
}
