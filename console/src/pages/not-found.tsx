import { Link } from "wouter-preact";

export function NotFound() {
  return (
    <section>
      <h1>There is no such page</h1>
      <p>
        <Link href="/">Go to the overview</Link>
      </p>
    </section>
  );
}
