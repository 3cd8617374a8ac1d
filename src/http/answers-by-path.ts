import type { Method } from "./api/route.ts";
import type { TypeOf } from "./api/schema.ts";
import type { Rows } from "./routes/routes.ts";

/** A path of the table as a template: `/instances/{id}` is `/instances/${string}`. */
type Template<Path extends string> = Path extends `${infer Before}{${string}}${infer After}`
  ? `${Before}${string}${Template<After>}`
  : Path;

type IsSame<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;

type RowAt<Verb extends Method, Path extends string, Row = Rows> = Row extends {
  readonly method: Verb;
  readonly path: infer Own extends string;
}
  ? IsSame<Template<Own>, Path> extends true
    ? Row
    : never
  : never;

type AnswerOfRow<Row> = Row extends { readonly answer: infer Answer } ? TypeOf<Answer> : never;

/** What a request with this method to this path answers; never if there is no such route. */
export type AnswerAt<Verb extends Method, Path extends string> = Path extends string
  ? AnswerOfRow<RowAt<Verb, Path>>
  : never;
