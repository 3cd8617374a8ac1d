import { useEffect } from "preact/hooks";
import { Route, Router, Switch } from "wouter-preact";
import { SignIn } from "../pages/sign-in.tsx";
import { Toasts } from "../parts/toast.tsx";
import { findSession, may, session } from "../session.ts";
import { labeler } from "./labeler.ts";
import { LabelingPage } from "./labeling-page.tsx";
import { QueueList } from "./queue-list.tsx";
import { Top } from "./top.tsx";

/** Where all of it is mounted: the path of the page's `<base>`. */
const base = new URL(document.baseURI).pathname.replace(/\/$/, "");

/** The page where a labeler works. */
export function DeskApp() {
  useEffect(() => {
    void findSession();
  }, []);
  if (session.value === undefined) return null;
  if (session.value === null) return <SignIn />;
  return (
    <Router base={base}>
      {may("label") ? (
        <Switch>
          <Route path="/desk/:queue">
            {({ queue }) => <LabelingPage key={`${queue} ${labeler.value}`} queue={queue} labeler={labeler.value} />}
          </Route>
          <Route component={QueueList} />
        </Switch>
      ) : (
        <NotALabeler />
      )}
      <Toasts />
    </Router>
  );
}

function NotALabeler() {
  return (
    <div class="desk">
      <Top />
      <main class="desk-page">
        <h1>You cannot label here</h1>
        <p>
          {session.value?.name} has the role {session.value?.role}, which has no work at the desk. Ask for a token with
          the role labeler.
        </p>
      </main>
    </div>
  );
}
