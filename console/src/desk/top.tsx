import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";
import { Icon } from "../parts/icon.tsx";
import { theme, turnTheme } from "../preferences/theme.ts";
import { may, session, signOut } from "../session.ts";
import { labeler } from "./labeler.ts";

const icons = { system: "system", light: "sun", dark: "moon" } as const;

/** The header: the page, the labeler, and the sign-out link. */
export function Top({ queue, children }: { readonly queue?: string; readonly children?: ComponentChildren }) {
  return (
    <header class="desk-top">
      <nav aria-label="Desk" class="desk-way">
        <Link href="/desk" aria-current={queue === undefined ? "page" : undefined}>
          Desk
        </Link>
        {queue !== undefined && (
          <>
            <span class="quiet" aria-hidden="true">
              /
            </span>
            <h1>{queue}</h1>
          </>
        )}
      </nav>
      <span class="grow" />
      {children}
      <span class="desk-who quiet">{may("label") ? labeler.value : session.value?.name}</span>
      <button
        type="button"
        class="bare"
        aria-label={`Colors: ${theme.value}`}
        title={`Colors: ${theme.value}`}
        onClick={turnTheme}
      >
        <Icon name={icons[theme.value]} />
      </button>
      {may("read") && (
        <a class="button wide" href="./">
          Console
        </a>
      )}
      <button type="button" class="wide" onClick={() => void signOut()}>
        Sign out
      </button>
    </header>
  );
}
