import { Link, useLocation, useRoute } from "wouter-preact";
import { lifecycles } from "../lifecycles.ts";
import { liveness, paused } from "../live.ts";
import { Icon } from "../parts/icon.tsx";
import { Menu } from "../parts/menu.tsx";
import { theme, turnTheme } from "../preferences/theme.ts";
import { timeMode, turnTimes } from "../preferences/times.ts";
import { session, signOut } from "../session.ts";
import icon from "./icon.svg";

const themeIcons = { system: "system", light: "sun", dark: "moon" } as const;
const timeNames = { relative: "Ago", local: "Local", utc: "UTC" } as const;

/** The top bar: the lifecycle, the search, and display settings. */
export function Top({ onSearch }: { readonly onSearch: () => void }) {
  return (
    <header class="top">
      <Link href="/" class="brand" aria-label="Pawl">
        <img src={icon} alt="" width="20" height="20" />
        <span>Pawl</span>
      </Link>
      <LifecycleSwitch />
      <button type="button" class="search-button" onClick={onSearch} aria-label="Search">
        <Icon name="search" />
        <span>Search</span>
        <kbd>/</kbd>
      </button>
      <span class="grow" />
      <LiveDot />
      <button
        type="button"
        class="bare wide"
        onClick={turnTimes}
        title="Time format"
        aria-label={`Times: ${timeNames[timeMode.value]}`}
      >
        <Icon name="clock" />
        <span>{timeNames[timeMode.value]}</span>
      </button>
      <button
        type="button"
        class="bare"
        onClick={turnTheme}
        title={`Colors: ${theme.value}`}
        aria-label={`Colors: ${theme.value}`}
      >
        <Icon name={themeIcons[theme.value]} />
      </button>
      <Menu label={<Who />}>
        <p class="menu-note">
          <b>{session.value?.name}</b>
          <span class="quiet">{session.value?.role}</span>
        </p>
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </Menu>
    </header>
  );
}

function Who() {
  return (
    <>
      <span class="hidden">Signed in as {session.value?.name}</span>
      <span class="who" aria-hidden="true">
        {session.value?.name.slice(0, 2)}
      </span>
    </>
  );
}

function LifecycleSwitch() {
  const [, go] = useLocation();
  const [, at] = useRoute("/lifecycles/:lifecycle");
  if (lifecycles.value.length === 0) return null;
  return (
    <select
      aria-label="Lifecycle"
      class="lifecycle-switch"
      value={at?.lifecycle ?? ""}
      onChange={(event) => go(event.currentTarget.value === "" ? "/" : `/lifecycles/${event.currentTarget.value}`)}
    >
      <option value="">All lifecycles</option>
      {lifecycles.value.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

const dotTitles = {
  live: "Live. Press to pause.",
  waiting: "Disconnected. Reconnects as soon as Pawl responds.",
  paused: "Paused. Press to resume.",
} as const;
const dotNames = { live: "Live", waiting: "Disconnected", paused: "Paused" } as const;

/** Whether the page follows what happens. */
function LiveDot() {
  return (
    <button
      type="button"
      class={`bare wide live ${liveness.value}`}
      aria-pressed={paused.value}
      title={dotTitles[liveness.value]}
      onClick={() => {
        paused.value = !paused.value;
      }}
    >
      <span class="dot" />
      <span>{dotNames[liveness.value]}</span>
    </button>
  );
}
