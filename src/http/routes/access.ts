import type { Route } from "../api/route.ts";
import { about, duration, id, listOf, moment, named, nothing, oneOf, orNull, shape, text } from "../api/schema.ts";
import type { OpenSessionAnswer, SignInAnswer, TokenAnswer } from "../contract.ts";

const role = oneOf("viewer", "operator", "admin", "labeler", "service");

const token = shape<TokenAnswer>({
  id,
  name: text,
  role,
  labeler: orNull(text),
  createdAt: moment,
  expiresAt: orNull(moment),
  usedAt: about(orNull(moment), "Noted once a minute."),
});

const session = named(
  "OpenSession",
  shape<OpenSessionAnswer>({
    id,
    name: text,
    role,
    labeler: orNull(text),
    token: about(orNull(id), "The token that it was opened with; null for one that was opened by a link."),
    createdAt: moment,
    expiresAt: moment,
    usedAt: about(orNull(moment), "Noted once a minute."),
  }),
);

const visitor = {
  name: about(text, "Who or what it is for; it stands in the journal as the actor."),
  role,
  labeler: about(text, "Who a labeler is in the queues; `name` unless given."),
};

export const accessRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/tokens",
    verb: "tokens",
    may: "administer",
    tag: "Access",
    summary: "The tokens that were given out, oldest first, without their secrets.",
    answers: listOf(token),
  },
  {
    method: "post",
    path: "/tokens",
    verb: "createToken",
    may: "administer",
    tag: "Access",
    summary: "Make a token. Its secret is told here and never again.",
    takes: { ...visitor, lasts: about(duration, "Until it is revoked unless given.") },
    needs: ["name", "role"],
    answers: {
      ...token,
      properties: { ...token.properties, secret: text },
      required: [...token.required!, "secret"],
    },
  },
  {
    method: "delete",
    path: "/tokens/{id}",
    verb: "revokeToken",
    may: "administer",
    tag: "Access",
    summary: "Take a token back: it and the sessions that it opened count no more.",
    answers: nothing,
  },
  {
    method: "get",
    path: "/sessions",
    verb: "sessions",
    may: "administer",
    tag: "Access",
    summary: "The browsers that are signed in, by links and with tokens, oldest first.",
    answers: listOf(session),
  },
  {
    method: "delete",
    path: "/sessions/{id}",
    verb: "revokeSession",
    may: "administer",
    tag: "Access",
    summary: "End a session: its browser has to sign in anew, and its live streams end.",
    answers: nothing,
  },
  {
    method: "post",
    path: "/sign-in-codes",
    verb: "signInCode",
    may: "administer",
    tag: "Access",
    summary: "Make a link that signs somebody in once, within a quarter of an hour.",
    takes: visitor,
    needs: ["name", "role"],
    answers: shape<SignInAnswer>({
      path: about(text, "Seen from where Pawl is mounted."),
      url: about(orNull(text), "Where the process that answers has its pages, if it knows."),
    }),
  },
];
