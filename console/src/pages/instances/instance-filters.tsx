import { useEffect, useState } from "preact/hooks";
import { countIn, isInternal, lifecycleNamed, lifecycles } from "../../lifecycles.ts";
import { Menu } from "../../parts/menu.tsx";
import { count } from "../../parts/tile.tsx";
import "./instances.css";

export interface InstanceFiltersProps {
  readonly lifecycle: string;
  readonly states: readonly string[];
  readonly textKey: string;
  readonly onChange: (changes: Readonly<Record<string, string | readonly string[]>>) => void;
}

/** The filters: lifecycle, states, prefix of the key. */
export function InstanceFilters({ lifecycle, states, textKey, onChange }: InstanceFiltersProps) {
  const [typed, setTyped] = useState(textKey);
  useEffect(() => setTyped(textKey), [textKey]);
  useEffect(() => {
    if (typed === textKey) return undefined;
    const timer = setTimeout(() => onChange({ key: typed }), 300);
    return () => clearTimeout(timer);
  }, [typed]);
  const known = lifecycleNamed(lifecycle);
  const turn = (state: string, isOn: boolean) =>
    onChange({ state: isOn ? [...states, state] : states.filter((one) => one !== state) });
  return (
    <div class="filters">
      <select
        aria-label="Of the lifecycle"
        value={lifecycle}
        onChange={(event) => onChange({ lifecycle: event.currentTarget.value, state: [] })}
      >
        {lifecycles.value.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
        {isInternal(lifecycle) && <option key={lifecycle}>{lifecycle}</option>}
      </select>
      <Menu label={states.length === 0 ? "Any state" : `${states.length} of its states`} name="States" stays>
        <fieldset class="columns states">
          <legend class="hidden">States</legend>
          {known?.states.map(({ name }) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={states.includes(name)}
                onChange={(event) => turn(name, event.currentTarget.checked)}
              />
              <span class="grow">{name}</span>
              <span class="quiet number">{count(countIn(known, name))}</span>
            </label>
          ))}
        </fieldset>
      </Menu>
      <input
        type="search"
        aria-label="Key or id"
        placeholder="Key prefix or id"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      {states.map((state) => (
        <button
          key={state}
          type="button"
          class="chip"
          onClick={() => turn(state, false)}
          aria-label={`Without ${state}`}
        >
          {state} ×
        </button>
      ))}
    </div>
  );
}
