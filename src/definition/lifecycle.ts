import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Definition } from "./language/definition-types.ts";
import type {
  AnyLabel,
  EventNames,
  Input,
  NoData,
  Output,
  PayloadSent,
  Schemas,
  SharedBy,
} from "./language/inferred.ts";
import type { Lifecycle } from "./language/public-types.ts";
import { buildLifecycle } from "./read/build.ts";

/**
 * Declares a lifecycle: its states, the steps that run in them, and how it recovers. Names that do not exist do not
 * compile; checks of the complete definition run here, and `definition_invalid` lists every fault at once.
 *
 * ```ts
 * const parcel = lifecycle("parcel", {
 *   data: z.object({ address: z.string(), label: z.string().optional() }),
 *   initial: "labeling",
 *   states: {
 *     labeling: { run: buyLabel, on: { labeled: "ready" } },
 *     ready: { timeout: { after: "7d", send: "fail" }, on: { shipped: "done" } },
 *     done: { final: "success" },
 *   },
 * });
 * ```
 */
export function lifecycle<
  Name extends string,
  Own,
  Labels,
  Common extends string = never,
  Data extends StandardSchemaV1 = NoData,
  // biome-ignore lint/complexity/noBannedTypes: no event with a payload.
  Events extends Schemas = {},
  BuiltIns extends boolean = true,
  Named extends string = never,
>(
  name: Name,
  definition: Definition<Own, Labels, Common, Data, Events, BuiltIns, Named>,
): Lifecycle<{
  readonly name: Name;
  readonly data: Output<Data>;
  readonly input: Input<Data>;
  readonly state: SharedBy<Own, Common, Data, Events, BuiltIns>["state"];
  readonly events: {
    readonly [Event in Named | EventNames<SharedBy<Own, Common, Data, Events, BuiltIns>>]: PayloadSent<
      SharedBy<Own, Common, Data, Events, BuiltIns>,
      Event,
      AnyLabel<Labels>
    >;
  };
}> {
  return buildLifecycle(name, definition);
}
