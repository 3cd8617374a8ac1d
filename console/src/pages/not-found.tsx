import { Link } from "wouter-preact";

export function NotFound() {
  return (
    <section>
      <h1>Page not found</h1>
      <p>
        There is no page at <code>{document.location.pathname}</code>.
      </p>
      <p>
        <Link href="/">Go to the overview</Link>
      </p>
    </section>
  );
}
