import type { Route } from "../api/route.ts";
import { about, flag, listOf, moment, named, oneOf, orNull, shape, text, whole } from "../api/schema.ts";
import type { BreakerAnswer, FlipAnswer } from "../contract.ts";
import { cause } from "./arguments.ts";

const tag = "Breakers";

const state = oneOf("closed", "open", "half_open");

const breaker = named(
  "Breaker",
  shape<BreakerAnswer>({
    name: text,
    state,
    since: orNull(moment),
    openUntil: about(orNull(moment), "When it lets a first probe through; null unless it is open by itself."),
    forced: about(orNull(oneOf("open", "closed")), "What an operator has said, until it is released."),
    reason: orNull(text),
    actor: orNull(text),
    calls: shape<BreakerAnswer["calls"]>({ good: whole, failed: whole }),
    probes: shape<BreakerAnswer["probes"]>({ done: whole, good: whole, needed: whole, underWay: flag }),
    usedBy: about(listOf(text), "The states that use it, as `lifecycle/state`."),
  }),
);

const flip = named(
  "BreakerFlip",
  shape<FlipAnswer>({
    flip: about(whole, "The first one is 1."),
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

export const breakerRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/breakers",
    verb: "breakers",
    may: "look",
    tag,
    summary: "How the breakers of outside dependencies stand, over all processes.",
    answers: listOf(breaker),
  },
  {
    method: "get",
    path: "/breakers/{breaker}/flips",
    verb: "breakerFlips",
    may: "look",
    tag,
    summary: "When and why a breaker opened and closed, newest first.",
    takes: { limit: whole },
    answers: listOf(flip),
  },
  {
    method: "post",
    path: "/breakers/{breaker}/force",
    verb: "forceBreaker",
    may: "operate",
    tag,
    summary: "Hold a breaker open or closed in all processes, until it is released.",
    takes: { to: oneOf("open", "closed"), ...cause },
    needs: ["to", "reason"],
    answers: breaker,
  },
  {
    method: "post",
    path: "/breakers/{breaker}/release",
    verb: "releaseBreaker",
    may: "operate",
    tag,
    summary: "Let a breaker find its own way again.",
    takes: cause,
    answers: breaker,
  },
];
