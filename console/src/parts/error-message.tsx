/** Shows an error in place of the content. */
export function ErrorMessage({ error }: { readonly error: string | undefined }) {
  if (error === undefined) return null;
  return (
    <p role="alert" class="error">
      {error}
    </p>
  );
}
