import type { ComponentChildren } from "preact";
import { apiUrl, type Query, read } from "../../api.ts";
import { useFilters } from "../../url.ts";
import { usePages } from "../../use-pages.ts";
import { usePolling } from "../../use-polling.ts";
import { ErrorMessage } from "../error-message.tsx";
import { Table } from "./table.tsx";
import type { Column, TableProps } from "./table-props.ts";

const pageSize = 50;

export interface PagedTableProps<Row> extends Pick<TableProps<Row>, "name" | "empty" | "chosen" | "onChoose"> {
  /** Where the rows are fetched, page by page, and with which query. */
  readonly path: string;
  readonly query?: Query;
  /** The same in a terminal. */
  readonly command?: string;
  /** Which of the fetched rows are shown. All by default. */
  readonly only?: (row: Row) => boolean;
  readonly columns: (table: OpenTable) => readonly Column<Row>[];
  readonly tools?: (table: OpenTable) => ComponentChildren;
  /** For an open row: the parameter of the URL that holds its id, and its content. */
  readonly drawer?: {
    readonly parameter: string;
    readonly show: (row: ShownRow) => ComponentChildren;
    /** What a row leads to. The row itself by default. */
    readonly idOf?: (row: Row) => string;
  };
}

interface OpenTable {
  /** The ids of the selected rows, as far as they still exist. */
  readonly chosen: readonly string[];
  /** Shows a row in the drawer. */
  readonly show: (id: string) => void;
  /** Fetches the rows again. */
  readonly again: () => Promise<void>;
}

interface ShownRow {
  readonly id: string;
  /** Its place among the rows that are loaded; undefined if it is not one of them. */
  readonly place: { readonly at: number; readonly of: number; readonly more: boolean } | undefined;
  /** Shows the row before or after it; undefined if there is none. */
  readonly onPrevious: (() => void) | undefined;
  readonly onNext: (() => void) | undefined;
  readonly onClose: () => void;
  readonly onChanged: () => Promise<void>;
}

/** A list that is fetched page by page and kept fresh, with a drawer for one of its rows. The address names that row. */
export function PagedTable<Row extends { readonly id: string }>(props: PagedTableProps<Row>) {
  const { path, query, command, only, columns, tools, drawer, chosen, ...rest } = props;
  const [filters, change] = useFilters();
  const { answer, error, more, again } = usePages<Row>((after) => read(path, { ...query, limit: pageSize, after }), {
    size: pageSize,
    idOf: (row) => row.id,
    dependsOn: [apiUrl(path, query)],
  });
  usePolling(again);
  const rows = only === undefined ? answer : answer?.filter(only);
  const parameter = drawer?.parameter ?? "";
  const table = {
    chosen: rows?.map((row) => row.id).filter((id) => chosen?.has(id)) ?? [],
    show: (id: string) => change({ [parameter]: id }),
    again,
  };
  const shown = filters.get(parameter);
  const neighboursOf = (id: string) => {
    // Several rows can lead to the same thing, such as labels to their sample.
    const ids = [...new Set((rows ?? []).map(drawer?.idOf ?? ((row) => row.id)))];
    const at = ids.indexOf(id);
    const to = (place: number) => (at === -1 || ids[place] === undefined ? undefined : () => table.show(ids[place]!));
    const place = at === -1 ? undefined : { at: at + 1, of: ids.length, more: more !== undefined };
    return { place, onPrevious: to(at - 1), onNext: to(at + 1) };
  };
  return (
    <>
      <ErrorMessage error={error} />
      <Table
        {...rest}
        rows={rows}
        rowKey={(row) => row.id}
        columns={columns(table)}
        more={more}
        chosen={chosen && new Set(table.chosen)}
        asked={{ url: apiUrl(path, query), command }}
        tools={tools?.(table)}
      />
      {shown !== null &&
        drawer?.show({
          ...neighboursOf(shown),
          id: shown,
          onClose: () => change({ [parameter]: "" }),
          onChanged: again,
        })}
    </>
  );
}
