import { useState } from "preact/hooks";
import { read, write } from "../../preferences/stored-choice.ts";
import { compare } from "../../rows.ts";
import { Icon } from "../icon.tsx";
import { TableMenu } from "./table-menu.tsx";
import type { Column, TableProps } from "./table-props.ts";

export type { Column };

/** Rows that can be sorted, selected, exported, and requested from a terminal. */
export function Table<Row>(props: TableProps<Row>) {
  const { name, rows, rowKey, empty, more, chosen, onChoose, tools } = props;
  const [order, setOrder] = useState<{ by: string; descending: boolean }>();
  const [hidden, setHidden] = useState(() => new Set(read(`columns.${name}`)?.split(",") ?? []));
  if (rows === undefined) return <div class="table-wait" aria-busy="true" />;
  const columns = props.columns.filter((column) => !hidden.has(column.name));
  const by = props.columns.find((column) => column.name === order?.by)?.value;
  const sorted =
    by === undefined || order === undefined
      ? rows
      : rows.toSorted((one, other) => compare(by(one), by(other), order.descending));
  const hide = (column: string, isHidden: boolean) => {
    const all = new Set(hidden);
    if (isHidden) all.add(column);
    else all.delete(column);
    setHidden(all);
    write(`columns.${name}`, [...all].join(","));
  };
  const choose = (keys: readonly string[], isChosen: boolean) => {
    const all = new Set(chosen);
    for (const key of keys)
      if (isChosen) all.add(key);
      else all.delete(key);
    onChoose?.(all);
  };
  const bar = (
    <div class="table-bar">
      {tools}
      <span class="table-end">
        {rows.length > 0 && (
          <span class="quiet number">
            <Amount {...props} rows={rows} />
          </span>
        )}
        <TableMenu {...props} rows={sorted} hidden={hidden} onHide={hide} />
      </span>
    </div>
  );
  if (rows.length === 0) {
    return (
      <div class="table-box">
        {bar}
        {empty}
      </div>
    );
  }
  const keys = sorted.map(rowKey);
  const allChosen = chosen !== undefined && keys.every((key) => chosen.has(key));
  return (
    <div class="table-box">
      {bar}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reached by the keyboard. */}
      <section class="table-scroll" tabIndex={0} aria-label={name}>
        <table>
          <thead>
            <tr>
              {chosen !== undefined && (
                <th class="check">
                  <input
                    type="checkbox"
                    aria-label={`Choose all ${name} shown`}
                    checked={allChosen}
                    onChange={() => choose(keys, !allChosen)}
                  />
                </th>
              )}
              {columns.map((column) => (
                <Head key={column.name} column={column} order={order} onOrder={setOrder} />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.map((row, at) => (
              <tr key={keys[at]} aria-selected={chosen?.has(keys[at]!) ? "true" : undefined}>
                {chosen !== undefined && (
                  <td class="check">
                    <input
                      type="checkbox"
                      aria-label={`Choose ${keys[at]}`}
                      checked={chosen.has(keys[at]!)}
                      onChange={(event) => choose([keys[at]!], event.currentTarget.checked)}
                    />
                  </td>
                )}
                {columns.map((column) => (
                  <td key={column.name} class={column.numeric ? "number" : undefined}>
                    {column.show(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {more !== undefined && (
        <button type="button" class="more" onClick={more}>
          Show more
        </button>
      )}
    </div>
  );
}

/** How many rows are shown: `50 of 5,000 instances`, `3 instances`. */
function Amount<Row>({ name, rows, more, total }: Pick<TableProps<Row>, "name" | "more" | "total"> & Rows<Row>) {
  const shown = rows.length.toLocaleString("en");
  if (total === undefined || (total.count <= rows.length && !total.more))
    return `${shown}${more === undefined ? "" : "+"} ${rows.length === 1 ? name.replace(/s$/, "") : name}`;
  const all = Math.max(total.count, rows.length).toLocaleString("en");
  return `${shown} of ${total.more ? `more than ${all}` : all} ${name}`;
}

interface Rows<Row> {
  readonly rows: readonly Row[];
}

interface HeadProps<Row> {
  readonly column: Column<Row>;
  readonly order: { readonly by: string; readonly descending: boolean } | undefined;
  readonly onOrder: (order: { by: string; descending: boolean }) => void;
}

function Head<Row>({ column, order, onOrder }: HeadProps<Row>) {
  const { name, value, numeric } = column;
  const look = numeric ? "number" : undefined;
  if (value === undefined) return <th class={look}>{name}</th>;
  const isBy = order?.by === name;
  const sort = isBy ? (order.descending ? "descending" : "ascending") : "none";
  return (
    <th class={look} aria-sort={sort}>
      <button
        type="button"
        class={`sort ${sort}`}
        onClick={() => onOrder({ by: name, descending: isBy && !order.descending })}
      >
        {name}
        <Icon name="down" />
      </button>
    </th>
  );
}
