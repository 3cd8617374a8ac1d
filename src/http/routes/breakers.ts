import { routesOf } from "../api/route.ts";
import { about, flag, listOf, moment, named, oneOf, orNull, shape, text, whole } from "../api/schema.ts";
import { cause } from "../api/usual-arguments.ts";
import type { BreakerChangeResponse, BreakerResponse } from "../contract.ts";

const state = oneOf("closed", "open", "half_open");

const breaker = named(
  "Breaker",
  shape<BreakerResponse>({
    name: text,
    state,
    since: orNull(moment),
    openUntil: about(orNull(moment), "When it admits the first probe; null if it is not open or is forced."),
    forced: about(orNull(oneOf("open", "closed")), "The forced state, until it is released."),
    reason: orNull(text),
    actor: orNull(text),
    calls: shape<BreakerResponse["calls"]>({ good: whole, failed: whole }),
    probes: shape<BreakerResponse["probes"]>({ done: whole, good: whole, needed: whole, underWay: flag }),
    usedBy: about(listOf(text), "The states that use it, as `lifecycle/state`."),
  }),
);

const change = named(
  "BreakerChange",
  shape<BreakerChangeResponse>({
    number: about(whole, "A counter from 1."),
    from: state,
    to: state,
    cause: oneOf("failures", "rested", "probe_failed", "probes_passed", "forced", "released"),
    good: whole,
    failed: whole,
    openUntil: orNull(moment),
    reason: orNull(text),
    actor: orNull(text),
    at: moment,
  }),
);

const { get, post } = routesOf("Breakers");

export const breakerRoutes = [
  get("breakers", "/breakers", "read", {
    summary: "List breakers with their states, shared by all processes.",
    answer: listOf(breaker),
    call: (pawl) => pawl.breakers.list(),
  }),
  get("breakerHistory", "/breakers/{breaker}/history", "read", {
    summary: "List when and why a breaker opened and closed, newest first.",
    takes: { limit: whole },
    answer: listOf(change),
    call: (pawl, { breaker, limit }) => pawl.breakers.history(breaker, { limit }),
  }),
  post("forceBreaker", "/breakers/{breaker}/force", "operate", {
    summary: "Force a breaker open or closed in all processes, until it is released.",
    takes: { to: oneOf("open", "closed"), ...cause },
    needs: ["to", "reason"],
    answer: breaker,
    call: (pawl, { breaker, to, ...cause }) => pawl.breakers.force(breaker, to, cause),
  }),
  post("releaseBreaker", "/breakers/{breaker}/release", "operate", {
    summary: "End the forced state of a breaker.",
    takes: cause,
    answer: breaker,
    call: (pawl, { breaker, ...cause }) => pawl.breakers.force(breaker, null, cause),
  }),
];
