import type { Permission } from "../../access/roles.ts";
import type { Schema } from "./schema.ts";

/**
 * One way into Pawl over HTTP: a method and a path, the verb that answers, and what it takes. Names in braces come from
 * the path; the others from the query of a GET, and from the JSON body of all else.
 */
export interface Route {
  readonly method: "get" | "post" | "put" | "delete";
  /** Such as `/instances/{id}/events/{event}`, seen from `/api`. */
  readonly path: string;
  readonly verb: string;
  /** Its name among all routes, where the verb answers more than one. */
  readonly operation?: string;
  /** The right that is needed; of several, any. */
  readonly may: Permission | readonly Permission[];
  /** Values of a name in the path that need another right instead. */
  readonly reserved?: Reserved;
  readonly tag: Tag;
  readonly summary: string;
  readonly takes?: Readonly<Record<string, Schema>>;
  /** Of what is not in the path, what cannot be left out. */
  readonly needs?: readonly string[];
  /** What the path itself says, such as which decision is meant. */
  readonly says?: Readonly<Record<string, unknown>>;
  readonly answers: Schema;
}

export type Tag =
  | "Lifecycles"
  | "Instances"
  | "Callbacks"
  | "Jobs"
  | "Dead letters"
  | "Operations"
  | "People"
  | "Desk"
  | "Crowds"
  | "Workers"
  | "Breakers"
  | "Outbox"
  | "Schedules"
  | "Access";

export interface Reserved {
  readonly name: string;
  readonly values: readonly string[];
  readonly may: Permission;
}

/** The rights of which one is needed for a request with these values in its path. */
export function rightsFor({ may, reserved }: Route, inPath: (name: string) => unknown): readonly Permission[] {
  const isReserved = reserved?.values.includes(String(inPath(reserved.name))) ?? false;
  return isReserved ? [reserved!.may] : [may].flat();
}

/** The names that a path holds, in their order. */
export function namesIn(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}

/** What makes a route known by one name: its verb, and where two paths lead to it, how they differ. */
export function operationOf(route: Route): string {
  const name = route.operation ?? route.verb;
  return namesIn(route.path).includes("key") ? `${name}ByKey` : name;
}
