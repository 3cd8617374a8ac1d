import { Route } from "wouter-preact";
import { later } from "./lazy-page.tsx";

const Dead = later(async () => (await import("../pages/dead/dead.tsx")).Dead);
const DeadGroup = later(async () => (await import("../pages/dead/dead.tsx")).DeadGroup);
const Operations = later(async () => (await import("../pages/operations.tsx")).Operations);
const Workers = later(async () => (await import("../pages/workers/workers.tsx")).Workers);
const Breakers = later(async () => (await import("../pages/breakers.tsx")).Breakers);
const Outbox = later(async () => (await import("../pages/outbox/outbox.tsx")).Outbox);
const Schedules = later(async () => (await import("../pages/schedules.tsx")).Schedules);
const People = later(async () => (await import("../pages/people/people.tsx")).People);
const Queue = later(async () => (await import("../pages/people/queue.tsx")).Queue);
const Crowds = later(async () => (await import("../pages/crowds/crowds.tsx")).Crowds);
const Crowd = later(async () => (await import("../pages/crowds/crowd.tsx")).Crowd);
const Access = later(async () => (await import("../pages/access/access.tsx")).Access);

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
