import { accessRoutes } from "./access-routes.ts";
import { breakerRoutes } from "./breaker-routes.ts";
import { callbackRoutes } from "./callback-routes.ts";
import { crowdRoutes } from "./crowd-routes.ts";
import { deadRoutes } from "./dead-routes.ts";
import { deskRoutes } from "./desk-routes.ts";
import { instanceRoutes } from "./instance-routes.ts";
import { jobRoutes } from "./job-routes.ts";
import { lifecycleRoutes } from "./lifecycle-routes.ts";
import { operationRoutes } from "./operation-routes.ts";
import { outboxRoutes } from "./outbox-routes.ts";
import { overviewRoutes } from "./overview-routes.ts";
import { ownWorkRoutes } from "./own-work-routes.ts";
import { queueRoutes } from "./queue-routes.ts";
import type { Route } from "./route.ts";
import { sampleRoutes } from "./sample-routes.ts";
import { scheduleRoutes } from "./schedule-routes.ts";
import { workRoutes } from "./work-routes.ts";

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
