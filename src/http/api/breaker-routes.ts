import type { Route } from "./route.ts";
import { anything, listOf, oneOf, whole } from "./schema.ts";
import { cause } from "./taken.ts";

const tag = "Breakers";

export const breakerRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/breakers",
    verb: "breakers",
    may: "look",
    tag,
    summary: "How the breakers of outside dependencies stand, over all processes.",
    answers: listOf(anything),
  },
  {
    method: "get",
    path: "/breakers/{breaker}/flips",
    verb: "breakerFlips",
    may: "look",
    tag,
    summary: "When and why a breaker opened and closed, newest first.",
    takes: { limit: whole },
    answers: listOf(anything),
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
    answers: anything,
  },
  {
    method: "post",
    path: "/breakers/{breaker}/release",
    verb: "releaseBreaker",
    may: "operate",
    tag,
    summary: "Let a breaker find its own way again.",
    takes: cause,
    answers: anything,
  },
];
