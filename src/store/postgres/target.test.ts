import pg from "pg";
import { describe, expect, test } from "vitest";
import { targetOf } from "./target.ts";

describe("a URL", () => {
  test("of one host is left as it is", () => {
    const url = "postgres://ada:p%40ss@db.example:5433/shop?application_name=web";
    expect(targetOf(url)).toEqual({ urls: [url], settings: {}, startup: "" });
  });

  test("of several hosts becomes one for each, with its port and all else", () => {
    expect(
      targetOf("postgresql://ada:s3cret@a:5432,b,[::1]:5434/shop?target_session_attrs=read-write&sslmode=verify-full")
        .urls,
    ).toEqual([
      "postgresql://ada:s3cret@a:5432/shop?sslmode=verify-full",
      "postgresql://ada:s3cret@b/shop?sslmode=verify-full",
      "postgresql://ada:s3cret@[::1]:5434/shop?sslmode=verify-full",
    ]);
    expect(targetOf("postgres:///shop?host=a,b&port=5432,5433").urls).toEqual([
      "postgres:///shop?host=a&port=5432",
      "postgres:///shop?host=b&port=5433",
    ]);
    expect(targetOf("postgres:///shop?host=a,b&port=6000").urls).toEqual([
      "postgres:///shop?host=a&port=6000",
      "postgres:///shop?host=b&port=6000",
    ]);
  });

  test("hands its server settings to Pawl, which adds its own", () => {
    expect(targetOf("postgres://a/shop?options=-c%20work_mem%3D64MB&application_name=web")).toEqual({
      urls: ["postgres://a/shop?application_name=web"],
      settings: {},
      startup: "-c work_mem=64MB",
    });
  });
});

describe("options", () => {
  test("name a host without a URL, or what a URL cannot say", () => {
    const password = () => "token";
    expect(targetOf({ host: "a", port: 6000, user: "ada", database: "shop", password })).toEqual({
      urls: [undefined],
      settings: { host: "a", port: 6000, user: "ada", database: "shop", password },
      startup: "",
    });
    expect(targetOf({ url: "postgres://ada@a,b/shop?sslmode=disable", ssl: { ca: "PEM" } })).toEqual({
      urls: ["postgres://ada@a/shop", "postgres://ada@b/shop"],
      settings: { ssl: { ca: "PEM" } },
      startup: "",
    });
  });

  test("of a pool are taken without what makes it a pool, and with the hidden key of TLS", () => {
    const pool = new pg.Pool({ host: "a", user: "ada", password: "s3cret", max: 3, ssl: { key: "KEY", ca: "PEM" } });
    expect(targetOf(pool)).toEqual({
      urls: [undefined],
      settings: { host: "a", user: "ada", password: "s3cret", ssl: { key: "KEY", ca: "PEM" } },
      startup: "",
    });
  });
});

describe("a location that says nothing is refused, and never shows a password", () => {
  const refused: [string, unknown, RegExp][] = [
    ["another scheme", "mysql://ada:s3cret@a/shop", /must be a URL such as postgres:/],
    ["a URL that cannot be read", "postgres://ada:s3cret@a:port/shop", /cannot be read/],
    ["a standby", "postgres://ada:s3cret@a,b/shop?target_session_attrs=standby", /=standby, but Pawl needs .* writes/],
    ["no host", { ssl: true, password: "s3cret" }, /needs a `url` or a `host`/],
    ["both", { url: "postgres://a/shop", host: "b", password: "s3cret" }, /has a `url` and `host`/],
    ["an unknown option", { url: "postgres://a/shop", pasword: "s3cret" }, /Unknown option `pasword`.*`password`/],
    ["an empty host", { host: "", password: "s3cret" }, /`database.host` must be a string/],
    ["a port of text", { host: "a", port: "5432", password: "s3cret" }, /`database.port` must be a whole number/],
    ["a password that is none", { host: "a", password: 7 }, /`database.password` must be/],
    ["TLS that is none", { host: "a", ssl: "require", password: "s3cret" }, /`database.ssl` must be/],
  ];
  test.each(refused)("%s", (_what, location, message) => {
    const read = () => targetOf(location as string);
    expect(read).toThrow(expect.objectContaining({ code: "option_invalid", message: expect.stringMatching(message) }));
    expect(read).not.toThrow(/s3cret/);
  });
});
