/** Says what went wrong, where the page would show what it asked for. */
export function Trouble({ error }: { readonly error: string | undefined }) {
  if (error === undefined) return null;
  return (
    <p role="alert" class="error">
      {error}
    </p>
  );
}
