import { PawlError } from "../base/errors.ts";
import { checkedOptions } from "../base/options.ts";
import { isLog, type Log } from "../telemetry/log.ts";
import type { AlertSink } from "./sink.ts";

/**
 * Writes alerts to a logger of their own, such as a channel that people watch. Each alert is written once, whichever
 * process raised it.
 *
 * ```ts
 * alerts: [logAlerts(pino({ name: "state-machine-errors" }))]
 * ```
 */
export function logAlerts(log: Log, options: { readonly name?: string } = {}): AlertSink {
  if (!isLog(log)) {
    throw new PawlError("option_invalid", "`logAlerts` needs a pino logger, or one with debug, info, warn and error.");
  }
  checkedOptions(options, ["name"], "logAlerts");
  return {
    name: options.name ?? "log",
    send({ message, at, ...fields }) {
      log.error({ ...fields, at: at.toISOString() }, message);
    },
  };
}
