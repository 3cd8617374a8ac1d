import type { Route } from "../api/route.ts";
import { accessRoutes } from "./access.ts";
import { deskRoutes } from "./assignments.ts";
import { breakerRoutes } from "./breakers.ts";
import { callbackRoutes } from "./callbacks.ts";
import { crowdRoutes } from "./crowds.ts";
import { deadRoutes } from "./dead-letters.ts";
import { ownWorkRoutes } from "./desk.ts";
import { instanceRoutes } from "./instances.ts";
import { jobRoutes } from "./jobs.ts";
import { workRoutes } from "./lanes.ts";
import { lifecycleRoutes } from "./lifecycles.ts";
import { operationRoutes } from "./operations.ts";
import { outboxRoutes } from "./outbox.ts";
import { overviewRoutes } from "./overview.ts";
import { queueRoutes } from "./queues.ts";
import { sampleRoutes } from "./samples.ts";
import { scheduleRoutes } from "./schedules.ts";

/** Every way into Pawl over HTTP. */
export const routes: readonly Route[] = [
  ...overviewRoutes,
  ...lifecycleRoutes,
  ...instanceRoutes,
  ...callbackRoutes,
  ...jobRoutes,
  ...deadRoutes,
  ...operationRoutes,
  ...queueRoutes,
  ...sampleRoutes,
  ...deskRoutes,
  ...ownWorkRoutes,
  ...crowdRoutes,
  ...workRoutes,
  ...breakerRoutes,
  ...outboxRoutes,
  ...scheduleRoutes,
  ...accessRoutes,
];
