import type { KeyedModel } from "../model.ts";
import type { Faults } from "./fault.ts";
import { type Fields, readFields, readFunction, readInteger, readRate, requireKeys } from "./read.ts";

/** The limits, rates and shares of a state as written. */
export interface LimitsDraft {
  readonly limit: number | undefined;
  readonly rate: string | undefined;
  readonly keyed: KeyedModel | undefined;
}

type Read<Value> = (value: unknown, place: string, faults: Faults) => Value | undefined;

/** A limit or a rate: of all, or of all and of each key. */
interface Bound<Value> {
  readonly total: Value | undefined;
  readonly each: Value | undefined;
  readonly per: KeyedModel["limitPer"];
}

export function readLimits(fields: Fields, at: (key: string) => string, faults: Faults): LimitsDraft {
  const share = readFunction(fields.share, at("share"), faults);
  const limit = readBound(fields.limit, readLimit, at("limit"), faults);
  const rate = readBound(fields.rate, readRate, at("rate"), faults);
  const hasKeys = share !== undefined || limit.per !== undefined || rate.per !== undefined;
  for (const [key, { each }] of [
    ["limit", limit],
    ["rate", rate],
  ] as const) {
    if (each === undefined || hasKeys) continue;
    const remedy =
      "Write `per`, a function of the data that returns the key: { per: ({ data }) => data.customer, each: … }.";
    faults.add("shape_invalid", `${at(key)}.per`, "It is missing, and nothing says what the keys are.", remedy);
  }
  return {
    limit: limit.total,
    rate: rate.total,
    keyed: hasKeys ? { share, limit: limit.each, limitPer: limit.per, rate: rate.each, ratePer: rate.per } : undefined,
  };
}

function readBound<Value>(value: unknown, read: Read<Value>, place: string, faults: Faults): Bound<Value> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { total: read(value, place, faults), each: undefined, per: undefined };
  const fields = readFields(value, ["total", "per", "each"], place, faults) ?? {};
  if (fields.per !== undefined)
    requireKeys(fields, ["each"], "Write how much each key may have, or take `per` out.", place, faults);
  else if (fields.total === undefined && fields.each === undefined)
    faults.add("shape_invalid", place, "It is empty.", "Write { total }, { per, each } or all three.");
  return {
    total: read(fields.total, `${place}.total`, faults),
    each: read(fields.each, `${place}.each`, faults),
    per: readFunction(fields.per, `${place}.per`, faults),
  };
}

function readLimit(value: unknown, place: string, faults: Faults): number | undefined {
  return readInteger(value, [1, 1_000_000], undefined, place, faults);
}
