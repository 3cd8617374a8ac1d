import { lifecycle, PermanentError, TransientError } from "pawl";
import { z } from "zod";
import { chance } from "../chance.ts";

let isDown = false;

/**
 * The service that classifies postings, with switches: after `break` it answers nothing, after `mend` it works again;
 * it also recovers by itself after a minute. There is one instance of it, with the key `classifier`.
 */
export const service = lifecycle("service", {
  data: z.object({}),
  initial: "up",
  states: {
    up: { forever: true, on: { break: { to: "down", before: () => turn(true) }, retire: "retired" } },
    down: { timeout: { after: "1m", send: "mend" }, on: { mend: { to: "up", before: () => turn(false) } } },
    retired: { final: "success" },
  },
});

function turn(down: boolean): void {
  isDown = down;
}

export type Judgement = "clean" | "doubtful" | "foul";

/** The result of a classifier for a text. It knows eleven words. */
export async function classify(text: string, request: string, signal: AbortSignal): Promise<Judgement> {
  await pause(200 + 1_200 * chance(request), signal);
  if (isDown) throw new TransientError("the classifier does not answer");
  if (chance("cut", request) < 0.12) throw new TransientError("the classifier hung up");
  if (text.includes("\u{FFFD}")) throw new PermanentError("the classifier cannot read this text");
  if (/\b(?:cheap|free|winner|click|watches)\b/i.test(text)) return "foul";
  return /\b(?:idiot|never|always|wrong|stupid|doctor)\b/i.test(text) ? "doubtful" : "clean";
}

/** Takes its time, unless the step is called off. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
