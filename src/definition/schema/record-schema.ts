import type { StandardSchemaV1 } from "@standard-schema/spec";

/** What one value must be: the fault of a value that is not, as a list of places and reasons. */
export interface Field<T> {
  readonly check: (value: unknown, path: readonly string[]) => readonly StandardSchemaV1.Issue[];
  /** The stored part of a checked value. */
  readonly keep: (value: unknown) => unknown;
  /** May be left out of its record. */
  readonly optional?: true;
  /** For the compiler alone: the type of the checked value. */
  readonly type?: T;
}

function field<T>(what: string, isOne: (value: unknown) => boolean): Field<T> {
  return {
    check: (value, path) => (isOne(value) ? [] : [{ message: `must be ${what}`, path }]),
    keep: (value) => value,
  };
}

export const text = field<string>("a text", (value) => typeof value === "string");
export const flag = field<boolean>("true or false", (value) => typeof value === "boolean");
export const number = field<number>("a number", (value) => Number.isFinite(value));
export const whole = field<number>("a whole number", (value) => Number.isSafeInteger(value));
/** Any JSON. That it can be stored is checked where it is. */
export const json = field<never>("a value", (value) => value !== undefined);

export function oneOf<const Word extends string>(...words: readonly Word[]): Field<Word> {
  return field(`one of ${words.join(", ")}`, (value) => words.includes(value as Word));
}

export function orNull<T>(inner: Field<T>): Field<T | null> {
  return {
    check: (value, path) => (value === null ? [] : inner.check(value, path)),
    keep: (value) => (value === null ? null : inner.keep(value)),
  };
}

export function optional<T>(inner: Field<T>): Field<T | undefined> & { readonly optional: true } {
  return { ...inner, optional: true } as Field<T | undefined> & { readonly optional: true };
}

export function listOf<T>(inner: Field<T>): Field<readonly T[]> {
  return {
    check: (value, path) =>
      Array.isArray(value)
        ? value.flatMap((one, index) => inner.check(one, [...path, String(index)]))
        : [{ message: "must be a list", path }],
    keep: (value) => (value as readonly unknown[]).map(inner.keep),
  };
}

type Fields<T> = {
  readonly [Key in keyof T]-?: undefined extends T[Key] ? Field<T[Key]> & { readonly optional: true } : Field<T[Key]>;
};

/** An object with these keys. Others are dropped: a newer process may add some. */
export function record<T extends object>(fields: Fields<T>): Field<T> {
  const known = Object.entries<Field<unknown>>(fields as unknown as Record<string, Field<unknown>>);
  return {
    check: (value, path) => {
      if (typeof value !== "object" || value === null || Array.isArray(value))
        return [{ message: "must be an object", path }];
      const given = value as Readonly<Record<string, unknown>>;
      return known.flatMap(([name, one]) =>
        one.optional === true && given[name] === undefined ? [] : one.check(given[name], [...path, name]),
      );
    },
    keep: (value) => {
      const given = value as Readonly<Record<string, unknown>>;
      const kept = known.filter(([name]) => given[name] !== undefined);
      return Object.fromEntries(kept.map(([name, one]) => [name, one.keep(given[name])]));
    },
  };
}

/** The schema of data or of a payload: an object with these keys, each checked. Pawl's own lifecycles use it. */
export function recordSchema<T extends object>(fields: Fields<T>): StandardSchemaV1<T, T> {
  const { check, keep } = record<T>(fields);
  return {
    "~standard": {
      version: 1,
      vendor: "pawl",
      validate: (value) => {
        const issues = check(value, []);
        return issues.length === 0 ? { value: keep(value) as T } : { issues };
      },
    },
  };
}
