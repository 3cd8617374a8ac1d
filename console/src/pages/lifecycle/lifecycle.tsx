import { useCallback, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { LifecycleResponse } from "../../../../src/http/contract.ts";
import { apiUrl, get, part } from "../../api.ts";
import { copy, save } from "../../copy.ts";
import { countIn, lifecycleNamed } from "../../lifecycles.ts";
import { Diagram } from "../../parts/diagram/diagram.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { Menu } from "../../parts/menu.tsx";
import { count } from "../../parts/tile.tsx";
import { commandOf, curlOf } from "../../rows.ts";
import { useRequest } from "../../use-request.ts";
import { LifecycleDrawer } from "./lifecycle-drawer.tsx";
import "./lifecycle.css";

const kinds = [
  ["work", "works"],
  ["wait", "waits"],
  ["ask", "asks people"],
  ["ask crowd", "asks a crowd"],
  ["end success", "success"],
  ["end failure", "failure"],
] as const;

/** A lifecycle as a diagram, with the current instance counts. */
export function Lifecycle({ name }: { readonly name: string }) {
  const [builtIns, setBuiltIns] = useState(false);
  const [chosen, setChosen] = useState<string>();
  const path = `/lifecycles/${part(name)}/diagram` as const;
  const { answer, error } = useRequest(() => get(path, { format: "svg", builtIns }), [path, builtIns]);
  const lifecycle = lifecycleNamed(name);
  const countOf = useCallback(
    (state: string) => (lifecycle === undefined ? 0 : countIn(lifecycle, state)),
    [lifecycle],
  );
  const state = lifecycle?.states.find((one) => one.name === chosen);
  const saveAs = async (format: "svg" | "mermaid" | "dot", ending: string) =>
    save(`${name}.${ending}`, await get(path, { format, builtIns }), "text/plain");
  return (
    <section>
      <div class="head">
        <h1>{name}</h1>
        {lifecycle !== undefined && <span class="quiet">version {lifecycle.version}</span>}
        <span class="grow" />
        <label class="inline">
          <input type="checkbox" checked={builtIns} onChange={() => setBuiltIns(!builtIns)} />
          Built-in transitions
        </label>
        <Link class="button" href={`/instances?${new URLSearchParams({ lifecycle: name })}`}>
          Instances
        </Link>
        <Menu label="Export" name="Export">
          <button type="button" onClick={() => void saveAs("svg", "svg")}>
            Save as SVG
          </button>
          <button type="button" onClick={() => void saveAs("mermaid", "mmd")}>
            Save as Mermaid
          </button>
          <button type="button" onClick={() => void saveAs("dot", "dot")}>
            Save as DOT
          </button>
          <button type="button" onClick={() => void copy(curlOf(apiUrl(path, { format: "svg" })))}>
            Copy as curl
          </button>
          <button type="button" onClick={() => void copy(commandOf(["diagram", name]))}>
            Copy as CLI
          </button>
        </Menu>
      </div>
      <ErrorMessage error={error} />
      {answer !== undefined && lifecycle !== undefined && (
        <Undrawn lifecycle={lifecycle} svg={answer} onChoose={setChosen} />
      )}
      {answer !== undefined && lifecycle !== undefined && (
        <Diagram svg={answer} states={lifecycle.states} countOf={countOf} onChoose={setChosen} chosen={chosen} />
      )}
      <ul class="kinds" aria-label="Legend">
        {kinds.map(([look, means]) => (
          <li key={look} class={look}>
            {means}
          </li>
        ))}
      </ul>
      {lifecycle !== undefined && state !== undefined && (
        <LifecycleDrawer key={state.name} lifecycle={lifecycle} state={state} onClose={() => setChosen(undefined)} />
      )}
    </section>
  );
}

interface UndrawnProps {
  readonly lifecycle: LifecycleResponse;
  readonly svg: string;
  readonly onChoose: (state: string) => void;
}

/** States with instances that are not in the diagram, such as hidden built-in ones. */
function Undrawn({ lifecycle, svg, onChoose }: UndrawnProps) {
  const states = lifecycle.states.filter(
    ({ name }) => countIn(lifecycle, name) > 0 && !svg.includes(`<title>${name}</title>`),
  );
  if (states.length === 0) return null;
  return (
    <p class="undrawn">
      <span class="quiet">Not drawn:</span>
      {states.map(({ name }) => (
        <button key={name} type="button" class="chip" onClick={() => onChoose(name)}>
          {name} <b class="number">{count(countIn(lifecycle, name))}</b>
        </button>
      ))}
    </p>
  );
}
