import type { Route } from "../api/route.ts";
import type { TypeOf } from "../api/schema.ts";
import { accessRoutes } from "./access.ts";
import { deskRoutes } from "./assignments.ts";
import { breakerRoutes } from "./breakers.ts";
import { callbackRoutes } from "./callbacks.ts";
import { crowdRoutes } from "./crowds.ts";
import { deadRoutes } from "./dead-letters.ts";
import { ownWorkRoutes } from "./desk.ts";
import { instanceRoutes } from "./instances.ts";
import { jobRoutes } from "./jobs.ts";
import { laneRoutes } from "./lanes.ts";
import { lifecycleRoutes } from "./lifecycles.ts";
import { operationRoutes } from "./operations.ts";
import { outboxRoutes } from "./outbox.ts";
import { overviewRoutes } from "./overview.ts";
import { queueRoutes } from "./queues.ts";
import { sampleRoutes } from "./samples.ts";
import { scheduleRoutes } from "./schedules.ts";

const rows = [
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
  ...laneRoutes,
  ...breakerRoutes,
  ...outboxRoutes,
  ...scheduleRoutes,
  ...accessRoutes,
];

/** Every operation of the API. */
export const routes: readonly Route[] = rows;

export type Rows = (typeof rows)[number];

export type RouteName = Rows["name"];

/** The answer of the operation with this name. */
export type AnswerOf<Name extends RouteName> = TypeOf<Extract<Rows, { readonly name: Name }>["answer"]>;
