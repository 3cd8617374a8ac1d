import { PawlError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { checkedOptions } from "../../base/options.ts";
import type { AnyLifecycle, EventOf, PayloadOf } from "../../definition/language/public-types.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { MatchedInstances } from "../../views/move/matching-instances.ts";
import { filterOf, filterOptions } from "./instance-filter.ts";
import type { FilterOptions } from "./options.ts";

/** Selects instances of a lifecycle that meet all of the conditions. To select all, set `all: true`. */
export interface OperationFilter<L extends AnyLifecycle = AnyLifecycle> extends FilterOptions<L> {
  /** Only these instances, up to 10,000. */
  readonly id?: string | readonly string[];
  readonly all?: true;
}

/** Who decides, why, and how fast. */
export interface OperationOptions {
  readonly actor?: string | undefined;
  readonly reason?: string | undefined;
  /**
   * The maximum number of instances per second.
   * @default no limit
   */
  readonly rate?: number | undefined;
}

/** The options of a bulk recovery or restart. */
export interface RecoverOptions extends OperationOptions {
  /** Keys of the data to change first; one set to undefined is removed. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** The last arguments of a bulk `send`: the payload, if the event has one, then options. */
export type BulkSendArguments<L extends AnyLifecycle, Event extends EventOf<L>> = [PayloadOf<L, Event>] extends [
  undefined,
]
  ? [options?: OperationOptions]
  : undefined extends PayloadOf<L, Event>
    ? [payload?: PayloadOf<L, Event>, options?: OperationOptions]
    : [payload: PayloadOf<L, Event>, options?: OperationOptions];

/** The operation to preview. */
export type PreviewedOperation<L extends AnyLifecycle = AnyLifecycle> =
  | { readonly decision: "send"; readonly event: EventOf<L>; readonly payload?: unknown }
  | { readonly decision: "recover" | "restart"; readonly data?: Readonly<Record<string, unknown>> | undefined }
  | { readonly decision: "discard" };

const mostIds = 10_000;

/** Converts the filter for statements; throws `option_invalid` for a filter that cannot be intended. */
export function operationFilterOf(
  kernel: Kernel,
  lifecycle: AnyLifecycle,
  given: OperationFilter,
  call: string,
): { readonly filter: MatchedInstances; readonly text: string } {
  const keys = ["id", ...filterOptions];
  const { id, all, ...conditions } = checkedOptions(given, [...keys, "all"], call);
  const isEmpty = [id, ...Object.values(conditions)].every((one) => one === undefined);
  if (isEmpty !== (all === true)) {
    const fields = keys.map((key) => `\`${key}\``);
    throw invalid(`Select the instances of \`${call}\` by ${fields.join(", ")}, or all of them with { all: true }.`);
  }
  const ids = id === undefined ? null : idsOf(id);
  const shown = ids === null ? {} : ids.length > 20 ? { ids: ids.length } : { id: ids };
  return {
    filter: { ...filterOf(kernel, lifecycle, conditions), ids },
    text: JSON.stringify({ lifecycle: lifecycle.name, ...shown, ...conditions, all }),
  };
}

export function checkedRate(rate: unknown): number | null {
  if (rate === undefined) return null;
  if (Number.isFinite(rate) && (rate as number) > 0 && (rate as number) <= 100_000) return rate as number;
  throw invalid("`rate` must be a number of instances per second, above 0.");
}

function idsOf(given: unknown): string[] {
  const ids = [given].flat().map((one) => (typeof one === "string" ? one.toLowerCase() : one));
  if (ids.length > 0 && ids.length <= mostIds && ids.every(isId)) return ids as string[];
  throw invalid(`\`id\` must be the id of an instance, or a list of up to ${mostIds.toLocaleString("en")} ids.`);
}

function invalid(message: string): PawlError {
  return new PawlError("option_invalid", message);
}
