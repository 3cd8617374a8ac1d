import type { Duration } from "../base/duration.ts";
import type { Pawl } from "../pawl.ts";
import type { SignInAnswer } from "./contract.ts";
import type { DispatchOptions, Verb } from "./named.ts";
import type { Arguments } from "./request.ts";

type NewToken = Parameters<Pawl["access"]["createToken"]>[0];

/** The verbs about who may come in. */
export const accessVerbs: readonly (readonly [string, Verb])[] = [
  ["tokens", { takes: [], answer: ({ access }) => access.tokens() }],
  ["createToken", { takes: ["name", "role", "labeler", "lasts", "actor"], answer: createToken }],
  [
    "revokeToken",
    { takes: ["id", "actor"], answer: ({ access }, args) => access.revokeToken(args.text("id"), actorIn(args)) },
  ],
  ["sessions", { takes: [], answer: ({ access }) => access.sessions() }],
  [
    "revokeSession",
    { takes: ["id", "actor"], answer: ({ access }, args) => access.revokeSession(args.text("id"), actorIn(args)) },
  ],
  ["signInCode", { takes: ["name", "role", "labeler"], answer: signInCode }],
];

function createToken({ access }: Pawl, args: Arguments): unknown {
  return access.createToken({
    ...visitorOf(args),
    lasts: args.value("lasts") as Duration | undefined,
    ...actorIn(args),
  });
}

function actorIn(args: Arguments): { readonly actor: string | undefined } {
  return { actor: args.optionalText("actor") };
}

/** Only the process that answers knows where its pages are; whoever asks over HTTP has come by them. */
async function signInCode({ access }: Pawl, args: Arguments, { url }: DispatchOptions): Promise<SignInAnswer> {
  return { path: `/sign-in/${await access.createCode(visitorOf(args))}`, url: url ?? null };
}

function visitorOf(args: Arguments): Omit<NewToken, "lasts"> {
  const [name, role] = [args.text("name"), args.text("role") as NewToken["role"]];
  return { name, role, labeler: args.optionalText("labeler") };
}
