type Primitive = string | number | boolean | null | undefined;

/** Recognised as a whole, so that types which contain themselves (zod's `z.json()`) need not be walked. */
type Plain = Primitive | readonly Plain[] | { readonly [key: string]: Plain };

/**
 * The same type where JSON can represent it, and `never` where it cannot: dates, maps, functions, bigints and symbols.
 * `T extends Storable<T>` therefore checks that a value survives the way through the database unchanged. `unknown` and
 * `any` pass; their values are checked when they are stored.
 */
export type Storable<T> = unknown extends T
  ? T
  : T extends Plain
    ? T
    : T extends bigint | symbol | ((...given: never) => unknown)
      ? never
      : { [Key in keyof T]: Storable<T[Key]> };

/** Shown by the compiler when a schema's output cannot be represented in JSON. */
interface NotStorable {
  readonly "JSON cannot carry this: use texts, numbers, booleans, null, lists and plain objects": never;
}

/** Shown by the compiler when the data of a lifecycle is not an object with named fields. */
interface NotAnObject {
  readonly "The data of a lifecycle is an object with named fields": never;
}

/** Intersected with a schema's type: accepts payloads that can be stored. */
export type StorableValue<T> = [T] extends [Storable<T>] ? unknown : NotStorable;

/** Intersected with a schema's type: accepts data that can be stored and patched field by field. */
export type StorableFields<T> = [T] extends [readonly unknown[]] | [Primitive | bigint]
  ? NotAnObject
  : StorableValue<T>;
