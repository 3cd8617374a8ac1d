import type { SessionResponse } from "../../../src/http/contract.ts";
import type { IconName } from "../parts/icon.tsx";
import { may } from "../session.ts";

/** A page of the console, and who may see it. */
export interface ConsolePage {
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
  readonly needs: SessionResponse["may"][number];
}

const all: readonly ConsolePage[] = [
  { path: "/", name: "Overview", icon: "overview", needs: "read" },
  { path: "/instances", name: "Instances", icon: "instances", needs: "read" },
  { path: "/dead", name: "Dead letters", icon: "dead", needs: "read" },
  { path: "/people", name: "People", icon: "people", needs: "read" },
  { path: "/crowds", name: "Crowds", icon: "crowds", needs: "read" },
  { path: "/workers", name: "Workers", icon: "workers", needs: "read" },
  { path: "/breakers", name: "Breakers", icon: "breakers", needs: "read" },
  { path: "/outbox", name: "Outbox", icon: "outbox", needs: "read" },
  { path: "/schedules", name: "Schedules", icon: "schedules", needs: "read" },
  { path: "/operations", name: "Operations", icon: "operations", needs: "read" },
  { path: "/access", name: "Access", icon: "access", needs: "administer" },
];

/** The pages that the principal may see. */
export function places(): readonly ConsolePage[] {
  return all.filter((place) => may(place.needs));
}
