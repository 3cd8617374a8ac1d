import { Route } from "wouter-preact";
import { lazyPage } from "./lazy-page.tsx";

const Dead = lazyPage(async () => (await import("../pages/dead/dead.tsx")).Dead);
const DeadGroup = lazyPage(async () => (await import("../pages/dead/dead.tsx")).DeadGroup);
const Operations = lazyPage(async () => (await import("../pages/operations.tsx")).Operations);
const Workers = lazyPage(async () => (await import("../pages/workers/workers.tsx")).Workers);
const Breakers = lazyPage(async () => (await import("../pages/breakers.tsx")).Breakers);
const Outbox = lazyPage(async () => (await import("../pages/outbox/outbox.tsx")).Outbox);
const Schedules = lazyPage(async () => (await import("../pages/schedules.tsx")).Schedules);
const People = lazyPage(async () => (await import("../pages/people/people.tsx")).People);
const Queue = lazyPage(async () => (await import("../pages/people/queue.tsx")).Queue);
const Crowds = lazyPage(async () => (await import("../pages/crowds/crowds.tsx")).Crowds);
const Crowd = lazyPage(async () => (await import("../pages/crowds/crowd.tsx")).Crowd);
const Access = lazyPage(async () => (await import("../pages/access/access.tsx")).Access);

/** The pages for operators. */
export const operatingPages = [
  <Route key="dead" path="/dead" component={Dead} />,
  <Route key="group" path="/dead/:fingerprint">
    {({ fingerprint }) => <DeadGroup key={fingerprint} fingerprint={fingerprint} />}
  </Route>,
  <Route key="operations" path="/operations" component={Operations} />,
  <Route key="workers" path="/workers" component={Workers} />,
  <Route key="breakers" path="/breakers" component={Breakers} />,
  <Route key="outbox" path="/outbox" component={Outbox} />,
  <Route key="schedules" path="/schedules" component={Schedules} />,
  <Route key="people" path="/people" component={People} />,
  <Route key="queue" path="/people/:queue">
    {({ queue }) => <Queue key={queue} name={queue} />}
  </Route>,
  <Route key="crowds" path="/crowds" component={Crowds} />,
  <Route key="crowd" path="/crowds/:crowd">
    {({ crowd }) => <Crowd key={crowd} name={crowd} />}
  </Route>,
  <Route key="access" path="/access" component={Access} />,
];
