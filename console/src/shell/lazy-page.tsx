import type { ComponentType, FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ErrorMessage } from "../parts/error-message.tsx";

/** A page whose code is fetched when it is first opened, so that the console itself is there at once. */
export function lazyPage<Props extends object>(load: () => Promise<ComponentType<Props>>): FunctionComponent<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Later(props: Props) {
    const [Page, setPage] = useState<ComponentType<Props> | undefined>(() => loaded);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (Page !== undefined) return;
      load().then(
        (page) => {
          loaded = page;
          setPage(() => page);
        },
        () => setFailed(true),
      );
    }, []);
    if (Page !== undefined) return <Page {...props} />;
    // After an upgrade of Pawl, the old code is gone.
    return <ErrorMessage error={failed ? "Could not load this page. Reload the console." : undefined} />;
  };
}
