import type { ComponentChildren } from "preact";
import { Link, useLocation } from "wouter-preact";
import { session, signOut } from "./session.ts";

const places: readonly { readonly path: string; readonly name: string }[] = [{ path: "/", name: "Overview" }];

/** What stands around every page: the way to the others, and who is signed in. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  const [location] = useLocation();
  return (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="top">
        <Link href="/" class="brand">
          Pawl
        </Link>
        <span class="grow" />
        <span class="quiet">
          {session.value?.name} · {session.value?.role}
        </span>
        <button type="button" class="plain" onClick={() => void signOut()}>
          Sign out
        </button>
      </header>
      <nav class="rail" aria-label="Pages">
        {places.map(({ path, name }) => (
          <Link key={path} href={path} aria-current={isAt(location, path) ? "page" : undefined}>
            {name}
          </Link>
        ))}
      </nav>
      <main id="content">{children}</main>
    </div>
  );
}

function isAt(location: string, path: string): boolean {
  return path === "/" ? location === "/" : location === path || location.startsWith(`${path}/`);
}
