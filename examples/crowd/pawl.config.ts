import { defineConfig } from "pawl";
import { handIn, receiptLifecycle } from "./receipts.ts";

const own = receiptLifecycle({ marketplace: "people", submissions: 1 });

/** To try it yourself: the same receipts for Pawl's own labelers, one reading each. */
export default defineConfig({ lifecycles: [own.receipt], seed: (pawl) => handIn(pawl, own, "you") });
