import type { Right } from "../../access/roles.ts";
import type { Pawl } from "../../api/pawl.ts";
import type { Schema, TypeOf } from "./schema.ts";

/**
 * One operation of the API: a method and a path, the right that it needs, its arguments, its answer, and the call of
 * `Pawl`. Arguments in braces come from the path; the others from the query of a GET, and from the JSON body of all else.
 */
export interface Route<
  Name extends string = string,
  Answer = unknown,
  Verb extends Method = Method,
  Path extends string = string,
  Argument extends string = string,
> {
  /** Unique; the operation id of the document, and how the command line calls it. */
  readonly name: Name;
  readonly method: Verb;
  /** Such as `/instances/{id}/events/{event}`, below `/api`. */
  readonly path: Path;
  /** The right that is needed; of several, any. */
  readonly right: Right | readonly Right[];
  readonly tag: Tag;
  readonly summary: string;
  readonly takes?: Readonly<Record<Argument, Schema>>;
  /** The required arguments that are not in the path; `actor` and `labeler` default to the caller. */
  readonly needs?: readonly string[];
  /** Values of a name in the path that need another right instead. */
  readonly reserved?: Reserved;
  /** It answers when something has happened: it counts as a stream, and has no time limit. */
  readonly waits?: true;
  /** It can take longer than a client waits for other answers. */
  readonly isSlow?: true;
  readonly answer: Schema<Answer>;
  readonly call: (pawl: Pawl, args: never, caller: Caller) => unknown;
}

export type Method = "get" | "post" | "put" | "delete";
export type Takes = Readonly<Record<string, Schema>>;

/** The context of a call besides its arguments. */
export interface Caller {
  /** Aborted when the caller is gone, or the server closes. */
  readonly signal: AbortSignal;
  /** Where this Pawl answers over HTTP, if a caller cannot know it. */
  readonly url: string | undefined;
  /** Who the caller is, if the caller may see nothing but their own work. */
  readonly labeler: string | undefined;
}

/** The arguments of a call: moments are dates, and optional ones may be undefined. */
export type Arguments<Path extends string, T extends Takes, Needs> = {
  readonly [Name in NamesIn<Path>]: string;
} & { readonly [Name in keyof T as Name extends Needs ? Name : never]: ArgumentOf<T[Name]> } & {
  readonly [Name in keyof T as Name extends Needs ? never : Name]?: ArgumentOf<T[Name]>;
};

type ArgumentOf<S> = S extends { readonly format: "date-time" } ? Date : TypeOf<S>;

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** A row without its method, name, path and right. */
export interface Row<Path extends string, T extends Takes, Needs extends keyof T & string, Answer>
  extends Pick<Route, "summary" | "reserved" | "waits" | "isSlow"> {
  readonly takes?: T;
  readonly needs?: readonly Needs[];
  readonly answer: Schema<Answer>;
  readonly call: (pawl: Pawl, args: Arguments<Path, T, Needs>, caller: Caller) => unknown;
}

/** Functions that write the rows of a feature, one for each method. */
export function routesOf(tag: Tag) {
  const rowOf =
    <Verb extends Method>(method: Verb) =>
    <
      const Name extends string,
      const Path extends string,
      // biome-ignore lint/complexity/noBannedTypes: a row that takes nothing has no names at all.
      T extends Takes = {},
      const Needs extends keyof T & string = never,
      Answer = unknown,
    >(
      name: Name,
      path: Path,
      right: Route["right"],
      row: Row<Path, T, Needs, Answer>,
    ): Route<Name, Answer, Verb, Path, keyof T & string> => ({ name, method, path, right, tag, ...row });
  return { get: rowOf("get"), post: rowOf("post"), put: rowOf("put"), remove: rowOf("delete") };
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

interface Reserved {
  readonly name: string;
  readonly values: readonly string[];
  readonly right: Right;
}

/** The rights of which one is needed for a request with these values in its path. */
export function rightsFor({ right, reserved }: Route, inPath: (name: string) => unknown): readonly Right[] {
  const isReserved = reserved?.values.includes(String(inPath(reserved.name))) ?? false;
  return isReserved ? [reserved!.right] : [right].flat();
}

/** The names that a path holds, in their order. */
export function namesIn(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}
