/** A sentence of the document, in which text between backquotes is code. */
export function InlineText({ text }: { readonly text: string }) {
  const parts = text.split("`");
  return <>{parts.map((part, index) => (index % 2 === 1 ? <code key={part}>{part}</code> : part))}</>;
}

/** A path that is broken, where it must be, between its parts. */
export function Path({ path }: { readonly path: string }) {
  return (
    <>
      {path
        .split("/")
        .filter((part) => part !== "")
        .map((part) => (
          <span key={part}>
            /<wbr />
            {part}
          </span>
        ))}
    </>
  );
}
