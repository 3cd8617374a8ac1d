import { PawlError } from "../base/errors.ts";
import type { AnyCrowd } from "../definition/crowd.ts";
import { familyOf } from "./build-family.ts";
import type { Family } from "./family.ts";
import { guardMarketplace } from "./guard-marketplace.ts";
import type { Marketplace } from "./marketplace.ts";

/** Where crowds are asked, by the names that they give. */
export type Marketplaces = Readonly<Record<string, Marketplace>>;

/** Each crowd with its marketplace. */
export function familiesOf(crowds: readonly AnyCrowd[], marketplaces: Marketplaces): ReadonlyMap<AnyCrowd, Family> {
  return new Map(crowds.map((crowd) => [crowd, familyOf(crowd, marketplaceOf(crowd, marketplaces))]));
}

function marketplaceOf(crowd: AnyCrowd, marketplaces: Marketplaces): Marketplace {
  const given = Object.hasOwn(marketplaces, crowd.marketplace) ? marketplaces[crowd.marketplace] : undefined;
  if (given === undefined) {
    throw new PawlError(
      "option_invalid",
      `The crowd \`${crowd.name}\` is asked on \`${crowd.marketplace}\`, which is not among the \`marketplaces\`. Pass it to createPawl({ marketplaces: { "${crowd.marketplace}": … } }).`,
      { crowd: crowd.name, marketplace: crowd.marketplace },
    );
  }
  if (typeof given?.publish !== "function") {
    const message = `\`${crowd.marketplace}\` among the \`marketplaces\` is none: give what mturk(), memoryMarketplace() or the like returns.`;
    throw new PawlError("option_invalid", message, { marketplace: crowd.marketplace });
  }
  const marketplace = guardMarketplace(given);
  const problems = marketplace.check(crowd);
  if (problems.length === 0) return marketplace;
  throw new PawlError(
    "option_invalid",
    `The crowd \`${crowd.name}\` cannot be asked on ${marketplace.title}: ${problems.join(" ")}`,
    { crowd: crowd.name, problems },
  );
}
