import { routesOf } from "../api/route.ts";
import {
  about,
  duration,
  id,
  listOf,
  moment,
  named,
  nothing,
  oneOf,
  orNull,
  shape,
  text,
  withMore,
} from "../api/schema.ts";
import { actor } from "../api/usual-arguments.ts";
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

const { get, post, remove } = routesOf("Access");

export const accessRoutes = [
  get("tokens", "/tokens", "administer", {
    summary: "The tokens that were given out, oldest first, without their secrets.",
    answer: listOf(token),
    call: ({ access }) => access.tokens(),
  }),
  post("createToken", "/tokens", "administer", {
    summary: "Make a token. Its secret is told here and never again.",
    takes: { ...visitor, expiresIn: about(duration, "Until it is revoked unless given."), ...actor },
    needs: ["name", "role"],
    answer: withMore(token, { secret: text }),
    call: ({ access }, token) => access.createToken(token),
  }),
  remove("revokeToken", "/tokens/{id}", "administer", {
    summary: "Take a token back: it and the sessions that it opened count no more.",
    takes: actor,
    answer: nothing,
    call: ({ access }, { id, actor }) => access.revokeToken(id, { actor }),
  }),
  get("sessions", "/sessions", "administer", {
    summary: "The browsers that are signed in, by links and with tokens, oldest first.",
    answer: listOf(session),
    call: ({ access }) => access.sessions(),
  }),
  remove("revokeSession", "/sessions/{id}", "administer", {
    summary: "End a session: its browser has to sign in anew, and its live streams end.",
    takes: actor,
    answer: nothing,
    call: ({ access }, { id, actor }) => access.revokeSession(id, { actor }),
  }),
  post("signInCode", "/sign-in-codes", "administer", {
    summary: "Make a link that signs somebody in once, within a quarter of an hour.",
    takes: visitor,
    needs: ["name", "role"],
    answer: shape<SignInAnswer>({
      path: about(text, "Seen from where Pawl is mounted."),
      url: about(orNull(text), "Where the process that answers has its pages, if it knows."),
    }),
    call: async ({ access }, visitor, { url = null }) => ({
      path: `/sign-in/${await access.createSignInCode(visitor)}`,
      url,
    }),
  }),
];
