import { defineConfig } from "pawl";
import { handIn, receiptLifecycle } from "./receipts.ts";

const own = receiptLifecycle({ marketplace: "people", submissions: 1 });

/** For you as the crowd: the same receipts, asked of Pawl's own people, one reading each. */
export default defineConfig({ lifecycles: [own.receipt], seed: (pawl) => handIn(pawl, own, "you") });
