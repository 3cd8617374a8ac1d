type Primitive = string | number | boolean | null | undefined;

/** Recognised as a whole, so that types which contain themselves (zod's `z.json()`) need not be walked. */
type Plain = Primitive | readonly Plain[] | { readonly [key: string]: Plain };

/**
 * The same type where JSON can carry it, and `never` in the places where it cannot: dates, maps, functions, bigints and
 * symbols. `T extends Storable<T>` therefore asks whether a value survives the way through the database unchanged.
 * `unknown` and `any` pass; what they hold is looked at when it is stored.
 */
export type Storable<T> = unknown extends T
  ? T
  : T extends Plain
    ? T
    : T extends bigint | symbol | ((...given: never) => unknown)
      ? never
      : { [Key in keyof T]: Storable<T[Key]> };

/** What the compiler shows when a schema gives something that JSON cannot carry. */
interface NotStorable {
  readonly "JSON cannot carry this: use texts, numbers, booleans, null, lists and plain objects": never;
}

/** What the compiler shows when the data of a lifecycle is not an object with named fields. */
interface NotAnObject {
  readonly "The data of a lifecycle is an object with named fields": never;
}

/** Intersected with a schema's type: lets payloads pass that can be stored. */
export type StorableValue<T> = [T] extends [Storable<T>] ? unknown : NotStorable;

/** Intersected with a schema's type: lets data pass that can be stored and patched field by field. */
export type StorableFields<T> = [T] extends [readonly unknown[]] | [Primitive | bigint]
  ? NotAnObject
  : StorableValue<T>;
