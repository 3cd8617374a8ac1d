import { Link } from "wouter-preact";

/** The way back to the page that a page is a part of. */
export function Crumb({ href, name }: { readonly href: string; readonly name: string }) {
  return (
    <Link class="crumb small" href={href}>
      ← {name}
    </Link>
  );
}
