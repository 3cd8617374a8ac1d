import type { Json } from "../../base/json.ts";
import type { JsonSchema } from "../../definition/schema/json-schema.ts";
import { consensusOf } from "../../policy/agreement/consensus.ts";
import { isGold } from "../../policy/agreement/gold.ts";
import { labelShape } from "../../policy/agreement/schema-shape.ts";

/** What the labels of a sample come to. */
export interface Conclusion {
  /** Undefined where they tie. */
  readonly consensus: Json | undefined;
  /** How far they agree, from 0 to 1; null for one label alone. */
  readonly agreement: number | null;
}

/** What labels say together, read by the form that they were given in. */
export function conclude(labels: readonly Json[], form: JsonSchema): Conclusion {
  const { label, agreement } = consensusOf(labels, labelShape(form));
  return { consensus: label, agreement };
}

/** Whether a label is the one that was known beforehand. */
export function isRight(label: Json, gold: Json, form: JsonSchema): boolean {
  return isGold(label, gold, labelShape(form));
}
