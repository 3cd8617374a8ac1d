export {
  type Agreement,
  agreementByLabeler,
  agreementOf,
  type FieldAgreement,
  type LabelerAgreement,
} from "./policy/agreement/agreement.ts";
export { krippendorffAlpha, type Scale } from "./policy/agreement/alpha.ts";
export { type Consensus, consensusOf, type FieldConsensus } from "./policy/agreement/consensus.ts";
export {
  type ClassEstimate,
  type DawidSkene,
  type DawidSkeneOptions,
  dawidSkene,
  type LabelerEstimate,
} from "./policy/agreement/dawid-skene.ts";
export { accuracyOnGold, type GoldAccuracy, wilsonInterval } from "./policy/agreement/gold.ts";
export { cohensKappa, fleissKappa, type KappaWeights } from "./policy/agreement/kappa.ts";
export { type GivenLabel, pickField } from "./policy/agreement/label-columns.ts";
export type { Answer, LabelShape } from "./policy/agreement/label-shape.ts";
export { labelShape } from "./policy/agreement/schema-shape.ts";
