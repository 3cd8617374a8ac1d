import { expect, test } from "vitest";
import { eachStore } from "../support/each-store.ts";
import { parcel } from "../support/parcel.ts";

eachStore((store) => {
  test.each(["first", "second"])("the %s test on a database finds nothing that another one has made", async () => {
    await using t = await store.open({ lifecycles: [parcel] });
    expect(await t.pawl.inspect.counts(parcel)).toEqual({});
    await t.pawl.start(parcel, { key: "p", data: { address: "Elm 3" } });
    await t.db.script(`
      create table public.orders (id bigint generated always as identity primary key, instance uuid);
      create view public.open_orders as select id from public.orders;
      create type public.color as enum ('red', 'green');
      create function public.answer() returns int language sql as 'select 42';
      create schema shop;
      create table shop.items (id int primary key, color public.color);
      create table shop."a table" (id int references shop.items);
    `);
    await t.pawl.transaction((tx) => tx.query("insert into orders (instance) select id from pawl.instances"));
  });
});
