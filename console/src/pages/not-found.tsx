import { Link } from "wouter-preact";

export function NotFound() {
  return (
    <section>
      <h1>Page not found</h1>
      <p>
        <Link href="/">Go to the overview</Link>
      </p>
    </section>
  );
}
