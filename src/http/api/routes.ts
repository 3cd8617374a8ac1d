import { accessRoutes } from "./access-routes.ts";
import { instanceRoutes } from "./instance-routes.ts";
import { lifecycleRoutes } from "./lifecycle-routes.ts";
import type { Route } from "./route.ts";

/** Every way into Pawl over HTTP. */
export const routes: readonly Route[] = [...lifecycleRoutes, ...instanceRoutes, ...accessRoutes];
