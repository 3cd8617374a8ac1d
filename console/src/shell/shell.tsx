import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { recoveries } from "../connection.ts";
import { loadLifecycles } from "../lifecycles.ts";
import { goLive } from "../live.ts";
import { Icon } from "../parts/icon.tsx";
import { Toasts } from "../parts/toast.tsx";
import { may, session } from "../session.ts";
import { announcement, focusContent, usePageChange } from "./page-change.ts";
import { places } from "./pages.ts";
import { Search } from "./search.tsx";
import { Top } from "./top.tsx";

/** The frame of every page: navigation, search, and the signed-in principal. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  const [location] = useLocation();
  const [searching, setSearching] = useState(false);
  usePageChange();
  useEffect(() => {
    // The page itself reports errors of its requests.
    loadLifecycles().catch(() => {});
  }, [session.value?.name, recoveries.value]);
  useEffect(goLive, [session.value?.name]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isK = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
      if (!isK && (event.key !== "/" || isTyping(event.target))) return;
      event.preventDefault();
      setSearching(true);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <div class="shell">
      {/* A link to a place of the page would lead to the base of the console, which is another page. */}
      <button type="button" class="skip" onClick={focusContent}>
        Skip to the content
      </button>
      <p class="hidden" aria-live="polite">
        {announcement.value}
      </p>
      <Top onSearch={() => setSearching(true)} />
      <nav class="rail" aria-label="Pages">
        {places().map(({ path, name, icon }) => (
          <Link key={path} href={path} aria-current={isAt(location, path) ? "page" : undefined}>
            <Icon name={icon} />
            <span>{name}</span>
          </Link>
        ))}
        {may("label") && (
          <a href="desk">
            <Icon name="desk" />
            <span>Desk</span>
          </a>
        )}
        <a href="docs">
          <Icon name="docs" />
          <span>API docs</span>
        </a>
      </nav>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      {searching && <Search onClose={() => setSearching(false)} />}
      <Toasts />
    </div>
  );
}

/** The pages of one lifecycle are reached from the overview, and are a part of it. */
function isAt(location: string, path: string): boolean {
  if (path === "/") return location === "/" || location.startsWith("/lifecycles/");
  return location === path || location.startsWith(`${path}/`);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
