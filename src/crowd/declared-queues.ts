import type { AnyCrowd } from "../definition/crowd.ts";
import type { AnyLifecycle } from "../definition/language/public-types.ts";
import type { AnyQueue } from "../definition/queue.ts";
import { declared } from "../definition/read/declared.ts";
import type { Postings } from "../people/postings.ts";
import type { CrowdLifecycles } from "./crowd-lifecycles.ts";
import { lifecyclesByCrowd, type Marketplaces } from "./crowd-marketplaces.ts";
import { peopleMarketplace } from "./marketplaces/people.ts";
import { queuesOfCrowds } from "./marketplaces/people-queues.ts";
import { ownPeople } from "./names.ts";

interface Declared {
  readonly lifecycles: readonly AnyLifecycle[];
  readonly queues?: readonly AnyQueue[] | undefined;
  readonly crowds?: readonly AnyCrowd[] | undefined;
  readonly marketplaces?: Marketplaces | undefined;
}

/** The declared queues and crowds, with a queue for each crowd on the marketplace `people`. */
export function declaredQueuesAndCrowds(
  { lifecycles, queues: listed = [], crowds: given = [], marketplaces = {} }: Declared,
  postings: () => Postings,
): { readonly queues: readonly AnyQueue[]; readonly families: ReadonlyMap<AnyCrowd, CrowdLifecycles> } {
  const crowds = declared("crowd", given, lifecycles);
  const queues = declared("queue", listed, lifecycles);
  const amongPeople = queuesOfCrowds(
    crowds.filter((crowd) => crowd.marketplace === ownPeople),
    queues,
  );
  const people = peopleMarketplace(amongPeople, postings);
  const families = lifecyclesByCrowd(crowds, { ...marketplaces, [ownPeople]: people });
  return { queues: [...queues, ...amongPeople], families };
}
