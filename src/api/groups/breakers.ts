import { PawlError } from "../../base/errors.ts";
import { checkedLimit, checkedOptions, textOrNull } from "../../base/options.ts";
import { checkedText } from "../../base/text.ts";
import {
  type Breaker,
  type BreakerChange,
  breakerHistory,
  forceBreaker,
  showBreakers,
} from "../../kernel/breakers/operate.ts";
import { type Kernel, refuseInside } from "../../kernel/kernel.ts";
import { checkedBreaker } from "../../policy/breaker.ts";
import type { ForceBreakerOptions } from "../arguments/options.ts";

/** Circuit breakers of external dependencies: `pawl.breakers`. */
export class Breakers {
  readonly #kernel: Kernel;

  /** @internal */
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Lists breakers with their states, shared by all processes. */
  async list(): Promise<Breaker[]> {
    refuseInside(this.#kernel, "breakers.list");
    return showBreakers(this.#kernel);
  }

  /** Lists when and why a breaker opened and closed, newest first. */
  async history(breaker: string, options: { limit?: number } = {}): Promise<BreakerChange[]> {
    refuseInside(this.#kernel, "breakers.history");
    const { limit = 100 } = checkedOptions(options, ["limit"], "breakers.history");
    return breakerHistory(this.#kernel, checkedBreaker(breaker), checkedLimit(limit));
  }

  /**
   * Forces a breaker open or closed in all processes, whatever the outcome of its calls. `null` releases it; a breaker
   * that was forced open then probes before it closes.
   *
   * ```ts
   * await pawl.breakers.force("llm", "open", { reason: "the provider has announced an outage", actor: "grace" });
   * ```
   */
  async force(breaker: string, to: "open" | "closed" | null, options: ForceBreakerOptions = {}): Promise<Breaker> {
    refuseInside(this.#kernel, "breakers.force");
    if (to !== "open" && to !== "closed" && to !== null)
      throw new PawlError("option_invalid", 'A breaker is forced "open" or "closed", or released with null.');
    const { reason, actor } = checkedOptions(options, ["reason", "actor"], "breakers.force");
    return forceBreaker(this.#kernel, checkedBreaker(breaker), to, {
      reason: to === null ? textOrNull(reason, "The reason") : checkedText(reason, "The reason of a forced breaker"),
      actor: textOrNull(actor, "The actor"),
    });
  }
}
