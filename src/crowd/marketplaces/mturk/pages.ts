/** The start of a page of a list, as the service expects it. */
export interface From {
  readonly MaxResults: number;
  readonly NextToken?: string;
}

/** As many as a page can hold. */
const pageSize = 100;

/** Which page to ask for. */
export function pageAfter(token: string | undefined): From {
  return token === undefined ? { MaxResults: pageSize } : { MaxResults: pageSize, NextToken: token };
}

/** All pages of a listing, to the last one. */
export async function* pages<Page extends { readonly NextToken?: string | undefined }>(
  read: (from: From) => Promise<Page>,
): AsyncGenerator<Page> {
  for (let after: string | undefined, more = true; more; more = after !== undefined) {
    const page = await read(pageAfter(after));
    yield page;
    after = page.NextToken || undefined;
  }
}
