import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { messageOf, read } from "../api.ts";
import { Icon } from "../parts/icon.tsx";
import { Toasts } from "../parts/toast.tsx";
import { theme, turnTheme } from "../preferences/theme.ts";
import { findSession, session } from "../session.ts";
import icon from "../shell/icon.svg";
import { type ApiDocument, findOperations, type Operation, operationsOf } from "./document.ts";
import { InlineText, Path } from "./inline-text.tsx";
import { OperationCard } from "./operation.tsx";

const themeIcons = { system: "system", light: "sun", dark: "moon" } as const;

/** The API reference, rendered from its own document: operations, arguments, answers, and a form to try them. */
export function DocsPage() {
  const [api, setApi] = useState<ApiDocument>();
  const [trouble, setTrouble] = useState<string>();
  const [words, setWords] = useState("");
  useEffect(() => {
    read<ApiDocument>("/openapi.json").then(setApi, (error: unknown) => setTrouble(messageOf(error)));
    void findSession().catch(() => {});
  }, []);
  const found = useMemo(() => findOperations(api === undefined ? [] : operationsOf(api), words), [api, words]);
  const opened = usePlace(api !== undefined);
  return (
    <div class="docs">
      <a class="skip" href="docs#content">
        Skip to content
      </a>
      <Bar version={api?.info.version} words={words} onWords={setWords} />
      <Contents found={found} opened={opened} />
      <nav class="docs-tags" aria-label="Sections">
        {[...found.keys()].map((tag) => (
          <a key={tag} href={`docs#${anchorOf(tag)}`}>
            {tag}
          </a>
        ))}
      </nav>
      <main id="content" tabIndex={-1}>
        <h1>API</h1>
        {trouble !== undefined && <p class="error">{trouble}</p>}
        {api !== undefined && (
          <div class="docs-intro">
            <p>
              <InlineText text={api.info.description} />
            </p>
            <SignedInAs />
          </div>
        )}
        {api !== undefined && found.size === 0 && <p class="quiet">No results. Try fewer words.</p>}
        {[...found].map(([tag, operations]) => (
          <section key={tag} aria-labelledby={anchorOf(tag)}>
            <h2 id={anchorOf(tag)}>{tag}</h2>
            {operations.map((one) => (
              <OperationCard key={one.id} api={api!} operation={one} isMeant={opened === one.id} />
            ))}
          </section>
        ))}
      </main>
      <Toasts />
    </div>
  );
}

interface BarProps {
  readonly version: string | undefined;
  readonly words: string;
  readonly onWords: (words: string) => void;
}

function Bar({ version, words, onWords }: BarProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return (
    <header class="top">
      <a href="." class="brand" aria-label="Pawl, the console">
        <img src={icon} alt="" width="20" height="20" />
        <span>Pawl</span>
      </a>
      <label class="docs-search">
        <Icon name="search" />
        <span class="hidden">Search the API</span>
        <input
          ref={field}
          type="search"
          value={words}
          placeholder="Search, such as requeue"
          onInput={(event) => onWords(event.currentTarget.value)}
        />
        <kbd>/</kbd>
      </label>
      <span class="grow" />
      {version !== undefined && <span class="quiet docs-version">{version}</span>}
      <a class="docs-file" href="api/openapi.json">
        openapi.json
      </a>
      <button type="button" class="bare" onClick={turnTheme} aria-label={`Colors: ${theme.value}`}>
        <Icon name={themeIcons[theme.value]} />
      </button>
    </header>
  );
}

/** All operations by their tags. */
function Contents({ found, opened }: { readonly found: Map<string, Operation[]>; readonly opened: string }) {
  return (
    <nav class="docs-contents" aria-label="Operations">
      {[...found].map(([tag, operations]) => (
        <details key={tag} open={operations.some((one) => one.id === opened) || found.size <= 3}>
          <summary>
            {tag} <span class="quiet">{operations.length}</span>
          </summary>
          {operations.map((one) => (
            <a key={one.id} href={`docs#${one.id}`} aria-current={one.id === opened ? "location" : undefined}>
              <span class={`method ${one.method.toLowerCase()}`}>{one.method}</span>
              <span>
                <Path path={one.path.replace(/^\/api/, "")} />
              </span>
            </a>
          ))}
        </details>
      ))}
    </nav>
  );
}

/** Who would try something here. */
function SignedInAs() {
  if (session.value === undefined) return null;
  if (session.value === null) {
    return (
      <p class="docs-principal">
        <a href="sign-in">Sign in</a> to try it here; programs send a token.
      </p>
    );
  }
  const { name, role, may } = session.value;
  return (
    <p class="docs-principal">
      You are <b>{name}</b>, with the role {role}: {may.join(", ")}.
    </p>
  );
}

function anchorOf(tag: string): string {
  return `tag-${tag.toLowerCase().replaceAll(" ", "-")}`;
}

/** The operation that the address names; the page goes there once it is drawn. */
function usePlace(isDrawn: boolean): string {
  const [place, setPlace] = useState(location.hash.slice(1));
  useEffect(() => {
    const move = () => setPlace(location.hash.slice(1));
    addEventListener("hashchange", move);
    return () => removeEventListener("hashchange", move);
  }, []);
  useEffect(() => {
    if (isDrawn && place !== "") document.getElementById(place)?.scrollIntoView();
  }, [isDrawn, place]);
  return place;
}
