import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import type { InstanceResponse } from "../../../src/http/contract.ts";
import { get, part } from "../api.ts";
import { lifecycles } from "../lifecycles.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { places } from "./pages.ts";

interface Found {
  readonly href: string;
  readonly name: string;
  readonly what: string;
  readonly icon: IconName;
}

/** Finds a page, a lifecycle, a state, or an instance by its id or the beginning of its key. */
export function Search({ onClose }: { readonly onClose: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  const [, go] = useLocation();
  const [text, setText] = useState("");
  const [instances, setInstances] = useState<readonly InstanceResponse[]>([]);
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => box.current?.showModal(), []);
  useEffect(() => {
    const wanted = text.trim();
    if (wanted === "") return setInstances([]);
    let overtaken = false;
    const look = async () => {
      const found = await get("/search", { text: wanted, limit: 8 }).catch(() => []);
      if (!overtaken) setInstances(found);
    };
    const timer = setTimeout(() => void look(), 150);
    return () => {
      overtaken = true;
      clearTimeout(timer);
    };
  }, [text]);
  const found = [...instances.map(instanceFound), ...namesFound(text)].slice(0, 12);
  const chosen = Math.min(at, Math.max(0, found.length - 1));
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }), [chosen]);
  const visit = (one: Found | undefined) => {
    if (one === undefined) return;
    onClose();
    go(one.href);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter") visit(found[chosen]);
    // A browser would first clear the field, and close only when pressed again.
    else if (event.key === "Escape") onClose();
    else if (event.key === "ArrowDown") setAt(Math.min(chosen + 1, found.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(chosen - 1, 0));
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={box} class="search" aria-label="Search" onClose={onClose}>
      <input
        type="search"
        role="combobox"
        aria-label="Search"
        aria-expanded={found.length > 0}
        aria-controls="found"
        aria-activedescendant={found.length > 0 ? `found-${chosen}` : undefined}
        placeholder="An id, a key, a lifecycle, a state, a page"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <div role="listbox" id="found" ref={list} aria-label="Results">
        {found.map((one, place) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field, which keeps the focus, handles the keys.
          <div
            key={`${one.what} ${one.href}`}
            id={`found-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === chosen}
            onClick={() => visit(one)}
            onPointerMove={() => setAt(place)}
          >
            <Icon name={one.icon} />
            <span class="found-name" title={one.name}>
              {one.name}
            </span>
            <span class="found-what quiet" title={one.what}>
              {one.what}
            </span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="quiet search-none">No results.</p>}
    </dialog>
  );
}

function instanceFound({ id, key, lifecycle, state }: InstanceResponse): Found {
  return { href: `/instances/${id}`, name: key ?? id, what: `${lifecycle} · ${state}`, icon: "instances" };
}

function namesFound(text: string): Found[] {
  const wanted = text.trim().toLowerCase();
  const all = [
    ...places().map(({ path, name, icon }): Found => ({ href: path, name, what: "page", icon })),
    ...lifecycles.value.map(
      ({ name }): Found => ({ href: `/lifecycles/${part(name)}`, name, what: "lifecycle", icon: "lifecycle" }),
    ),
    ...lifecycles.value.flatMap(({ name, states }) =>
      states.map((state): Found => {
        const href = `/instances?${new URLSearchParams({ lifecycle: name, state: state.name })}`;
        return { href, name: state.name, what: `state of ${name}`, icon: "lifecycle" };
      }),
    ),
  ];
  return all.filter((one) => one.name.toLowerCase().includes(wanted));
}
