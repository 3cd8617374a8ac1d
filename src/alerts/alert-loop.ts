import type { Kernel } from "../kernel/kernel.ts";
import { type Repeated, repeat } from "../maintenance/repeat.ts";
import { logFailure } from "../telemetry/log.ts";
import { deliverAlerts } from "./deliver-alerts.ts";
import type { AlertSink } from "./sink.ts";

const restMs = 1_000;

/** Delivers alerts until it is stopped, in a loop of its own: a slow sink delays only alerts. */
export function startAlertLoop(kernel: Kernel, sinks: readonly AlertSink[]): Repeated {
  const round = async (): Promise<number> => ((await deliverAlerts(kernel, sinks)) > 0 ? 0 : restMs);
  const onFailure = (error: unknown) => logFailure(kernel.telemetry.log, error);
  return repeat(round, { restMs, onFailure });
}
