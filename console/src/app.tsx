import { useEffect } from "preact/hooks";
import { Route, Router, Switch } from "wouter-preact";
import { recoveries } from "./connection.ts";
import { Instance } from "./pages/instance/instance.tsx";
import { Instances } from "./pages/instances/instances.tsx";
import { Lifecycle } from "./pages/lifecycle/lifecycle.tsx";
import { NotFound } from "./pages/not-found.tsx";
import { Overview } from "./pages/overview/overview.tsx";
import { SignIn } from "./pages/sign-in.tsx";
import { findSession, session } from "./session.ts";
import { AwayBanner } from "./shell/away-banner.tsx";
import { operatingPages } from "./shell/operating.tsx";
import { Shell } from "./shell/shell.tsx";

/** Where the console is mounted: the path of the page's `<base>`. */
const base = new URL(document.baseURI).pathname.replace(/\/$/, "");

export function App() {
  useEffect(() => {
    // The banner says what does not respond.
    if (session.value === undefined) findSession().catch(() => {});
  }, [recoveries.value]);
  return (
    <Router base={base}>
      <AwayBanner />
      {session.value === null && <SignIn />}
      {session.value && (
        <Shell>
          <Switch>
            <Route path="/" component={Overview} />
            <Route path="/lifecycles/:lifecycle">{({ lifecycle }) => <Lifecycle name={lifecycle} />}</Route>
            {operatingPages}
            <Route path="/instances" component={Instances} />
            <Route path="/instances/:id">{({ id }) => <Instance key={id} id={id} />}</Route>
            <Route component={NotFound} />
          </Switch>
        </Shell>
      )}
    </Router>
  );
}
