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
import type { OpenSessionResponse, SignInResponse, TokenResponse } from "../contract.ts";

const role = oneOf("viewer", "operator", "admin", "labeler", "service");

const token = shape<TokenResponse>({
  id,
  name: text,
  role,
  labeler: orNull(text),
  createdAt: moment,
  expiresAt: orNull(moment),
  usedAt: about(orNull(moment), "Updated at most once a minute."),
});

const session = named(
  "OpenSession",
  shape<OpenSessionResponse>({
    id,
    name: text,
    role,
    labeler: orNull(text),
    token: about(orNull(id), "The token that opened the session; null for a session that a link opened."),
    createdAt: moment,
    expiresAt: moment,
    usedAt: about(orNull(moment), "Updated at most once a minute."),
  }),
);

const principal = {
  name: about(text, "The person or program that uses it; the journal records this name as the actor."),
  role,
  labeler: about(text, "The labeler's id in the queues. Defaults to `name`."),
};

const { get, post, remove } = routesOf("Access");

export const accessRoutes = [
  get("tokens", "/tokens", "administer", {
    summary: "List tokens, oldest first, without their secrets.",
    answer: listOf(token),
    call: ({ access }) => access.tokens(),
  }),
  post("createToken", "/tokens", "administer", {
    summary: "Create a token. Its secret is returned only here.",
    takes: { ...principal, expiresIn: about(duration, "Lifetime. Defaults to no limit."), ...actor },
    needs: ["name", "role"],
    answer: withMore(token, { secret: text }),
    call: ({ access }, token) => access.createToken(token),
  }),
  remove("revokeToken", "/tokens/{id}", "administer", {
    summary: "Revoke a token and the sessions that it opened.",
    takes: actor,
    answer: nothing,
    call: ({ access }, { id, actor }) => access.revokeToken(id, { actor }),
  }),
  get("sessions", "/sessions", "administer", {
    summary: "List browser sessions, opened by links and by tokens, oldest first.",
    answer: listOf(session),
    call: ({ access }) => access.sessions(),
  }),
  remove("revokeSession", "/sessions/{id}", "administer", {
    summary: "End a session and its live streams; its browser must sign in again.",
    takes: actor,
    answer: nothing,
    call: ({ access }, { id, actor }) => access.revokeSession(id, { actor }),
  }),
  post("signInCode", "/sign-in-codes", "administer", {
    summary: "Create a link that signs in once. It expires after 15 minutes.",
    takes: principal,
    needs: ["name", "role"],
    answer: shape<SignInResponse>({
      path: about(text, "Relative to the path at which Pawl is mounted."),
      url: about(orNull(text), "The URL of the console of this process, if known."),
    }),
    call: async ({ access }, principal, { url = null }) => ({
      path: `/sign-in/${await access.createSignInCode(principal)}`,
      url,
    }),
  }),
];
