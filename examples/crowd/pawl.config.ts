import { defineConfig, memoryMarketplace } from "pawl";
import { receiptLifecycle } from "./receipts.ts";

/** For `pawl check`, and for a look at what the simulation left. Its marketplace was in memory, and is gone. */
export default defineConfig({
  lifecycles: [receiptLifecycle().receipt],
  marketplaces: { memory: memoryMarketplace() },
});
