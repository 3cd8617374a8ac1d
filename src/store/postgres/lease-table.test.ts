import { expect, test } from "vitest";
import { LeaseTable } from "./lease-table.ts";

const id = (number: number) => `01890000-0000-7000-8000-${number.toString(16).padStart(12, "0")}`;

test("what one side notes the other reads, until it is struck out", () => {
  const table = new LeaseTable();
  const beside = new LeaseTable(table.memory);
  const first = table.note(id(1), 41)!;
  table.note(id(2), 2 ** 53 - 1);
  expect(beside.read()).toEqual([
    { taskId: id(1), token: 41 },
    { taskId: id(2), token: 2 ** 53 - 1 },
  ]);
  table.change(first, 42);
  expect(beside.read()[0]).toEqual({ taskId: id(1), token: 42 });
  table.strikeOut(first);
  expect(beside.read()).toEqual([{ taskId: id(2), token: 2 ** 53 - 1 }]);
  table.note(id(3), 43);
  expect(new Set(beside.read().map((lease) => lease.token))).toEqual(new Set([43, 2 ** 53 - 1]));
});

test("a full table says so, and takes more when there is room again", () => {
  const table = new LeaseTable();
  const noted: number[] = [];
  for (let number = 0; ; number++) {
    const slot = table.note(id(number), number);
    if (slot === undefined) break;
    noted.push(slot);
  }
  expect(new Set(noted).size).toBe(noted.length);
  expect(table.read()).toHaveLength(noted.length);
  table.strikeOut(noted[7]!);
  expect(table.note(id(0xffff), 1)).toBe(noted[7]);
  expect(table.tokenIn(noted[7]!)).toBe(1);
});
