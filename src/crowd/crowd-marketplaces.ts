import { PawlError } from "../base/errors.ts";
import type { AnyCrowd } from "../definition/crowd.ts";
import { buildCrowdLifecycles } from "./build-lifecycles.ts";
import type { CrowdLifecycles } from "./crowd-lifecycles.ts";
import { guardMarketplace } from "./guard-marketplace.ts";
import type { Marketplace } from "./marketplace.ts";

/** Marketplaces by name. */
export type Marketplaces = Readonly<Record<string, Marketplace>>;

/** Each crowd with its marketplace. */
export function lifecyclesByCrowd(
  crowds: readonly AnyCrowd[],
  marketplaces: Marketplaces,
): ReadonlyMap<AnyCrowd, CrowdLifecycles> {
  return new Map(crowds.map((crowd) => [crowd, buildCrowdLifecycles(crowd, marketplaceOf(crowd, marketplaces))]));
}

function marketplaceOf(crowd: AnyCrowd, marketplaces: Marketplaces): Marketplace {
  const given = Object.hasOwn(marketplaces, crowd.marketplace) ? marketplaces[crowd.marketplace] : undefined;
  if (given === undefined) {
    throw new PawlError(
      "option_invalid",
      `Crowd \`${crowd.name}\` uses the marketplace \`${crowd.marketplace}\`, which is not in \`marketplaces\`. Pass it to createPawl({ marketplaces: { "${crowd.marketplace}": … } }).`,
      { crowd: crowd.name, marketplace: crowd.marketplace },
    );
  }
  if (typeof given?.publish !== "function") {
    const message = `\`marketplaces.${crowd.marketplace}\` is not a marketplace. Pass the return value of mturk() or memoryMarketplace(), or your own implementation.`;
    throw new PawlError("option_invalid", message, { marketplace: crowd.marketplace });
  }
  const marketplace = guardMarketplace(given);
  const problems = marketplace.check(crowd);
  if (problems.length === 0) return marketplace;
  throw new PawlError(
    "option_invalid",
    `Crowd \`${crowd.name}\` cannot use ${marketplace.title}: ${problems.join(" ")}`,
    { crowd: crowd.name, problems },
  );
}
