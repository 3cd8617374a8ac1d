import type { Pawl } from "../pawl.ts";
import type { Verb } from "./named.ts";
import type { Arguments } from "./request.ts";

/** The verbs of the page where a labeler works, each about his own work. */
export const deskVerbs: readonly (readonly [string, Verb])[] = [
  ["desk", { takes: ["labeler", "since"], answer: desk }],
  ["deskWork", { takes: ["id", "labeler"], answer: deskWork }],
  ["draft", { takes: ["id", "labeler"], answer: draft }],
  ["keepDraft", { takes: ["id", "labeler", "draft"], answer: keepDraft }],
];

function desk({ people }: Pawl, args: Arguments): unknown {
  return people.desk(args.text("labeler"), { since: args.moment("since") });
}

function deskWork({ people }: Pawl, args: Arguments): unknown {
  return people.deskWork(args.text("id"), args.text("labeler"));
}

function draft({ people }: Pawl, args: Arguments): unknown {
  return people.draft(args.text("id"), args.text("labeler"));
}

function keepDraft({ people }: Pawl, args: Arguments): unknown {
  return people.keepDraft(args.text("id"), args.text("labeler"), args.value("draft"));
}
