import { useState } from "preact/hooks";
import { lifecycles } from "../../lifecycles.ts";
import { may } from "../../session.ts";
import { StartDialog } from "../instances/start-dialog.tsx";

/** What to do where nothing has happened yet. */
export function Guide() {
  const [starting, setStarting] = useState(false);
  const [first] = lifecycles.value;
  return (
    <section class="panel guide">
      <h2>No instances yet</h2>
      <ol>
        <li>
          <b>Declare a lifecycle</b>
          {first === undefined ? (
            <span>
              List it in <code>pawl.config.ts</code> and restart Pawl.
            </span>
          ) : (
            <span>
              Done: <code>{first.name}</code> is declared.
            </span>
          )}
        </li>
        <li>
          <b>Start an instance</b>
          <span>
            {first !== undefined && may("send") && (
              <button type="button" class="primary" onClick={() => setStarting(true)}>
                Start one here
              </button>
            )}{" "}
            <code>pawl instance start {first?.name ?? "<lifecycle>"}</code>
          </span>
        </li>
        <li>
          <b>Run a worker</b>
          <span>
            <code>pawl work</code>, or in your own process <code>pawl.work()</code>. Then watch it move here.
          </span>
        </li>
      </ol>
      {starting && first !== undefined && <StartDialog lifecycle={first.name} onClose={() => setStarting(false)} />}
    </section>
  );
}
