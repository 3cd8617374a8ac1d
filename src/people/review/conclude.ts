import type { Json } from "../../base/json.ts";
import type { JsonSchema } from "../../definition/schema/json-schema.ts";
import { consensusOf } from "../../policy/agreement/consensus.ts";
import { isGold } from "../../policy/agreement/gold.ts";
import { labelShape } from "../../policy/agreement/schema-shape.ts";

/** The result of a sample's labels. */
export interface Conclusion {
  /** Undefined for a tie. */
  readonly consensus: Json | undefined;
  /** Their agreement, from 0 to 1; null for a single label. */
  readonly agreement: number | null;
}

/** Computes the result of labels, read by the form that was in force when they were submitted. */
export function conclude(labels: readonly Json[], form: JsonSchema): Conclusion {
  const { label, agreement } = consensusOf(labels, labelShape(form));
  return { consensus: label, agreement };
}

/** Whether a label equals the gold label. */
export function isRight(label: Json, gold: Json, form: JsonSchema): boolean {
  return isGold(label, gold, labelShape(form));
}
