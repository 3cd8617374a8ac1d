import type { SessionAnswer } from "../../../src/http/contract.ts";
import type { IconName } from "../parts/icon.tsx";
import { may } from "../session.ts";

/** A page of the console, and who may see it. */
export interface ConsolePage {
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
  readonly needs: SessionAnswer["may"][number];
}

const all: readonly ConsolePage[] = [
  { path: "/", name: "Overview", icon: "overview", needs: "look" },
  { path: "/instances", name: "Instances", icon: "instances", needs: "look" },
  { path: "/dead", name: "Dead letters", icon: "dead", needs: "look" },
  { path: "/people", name: "People", icon: "people", needs: "look" },
  { path: "/crowds", name: "Crowds", icon: "crowds", needs: "look" },
  { path: "/workers", name: "Workers", icon: "workers", needs: "look" },
  { path: "/breakers", name: "Breakers", icon: "breakers", needs: "look" },
  { path: "/outbox", name: "Outbox", icon: "outbox", needs: "look" },
  { path: "/schedules", name: "Schedules", icon: "schedules", needs: "look" },
  { path: "/operations", name: "Operations", icon: "operations", needs: "look" },
  { path: "/access", name: "Access", icon: "access", needs: "administer" },
];

/** The pages that the principal may see. */
export function places(): readonly ConsolePage[] {
  return all.filter((place) => may(place.needs));
}
