import { Link, useLocation } from "wouter-preact";

export interface TabsProps {
  /** The accessible name of the tabs. */
  readonly name: string;
  readonly tabs: readonly { readonly id: string; readonly name: string; readonly count?: number | undefined }[];
  readonly at: string;
}

/** Several views of one page; which one is in the address, the first one without a word. */
export function Tabs({ name, tabs, at }: TabsProps) {
  const [path] = useLocation();
  return (
    <nav class="tabs" aria-label={name}>
      {tabs.map((tab, index) => (
        <Link
          key={tab.id}
          href={index === 0 ? path : `${path}?tab=${tab.id}`}
          aria-current={tab.id === at ? "page" : undefined}
        >
          {tab.name}
          {tab.count !== undefined && tab.count > 0 && <span class="tab-count">{tab.count.toLocaleString("en")}</span>}
        </Link>
      ))}
    </nav>
  );
}
