import { expect, test } from "vitest";
import { makeStyle } from "../../src/report/style.ts";

test("is the text itself without colour", () => {
  const { bold, dim, red, green, yellow, cyan } = makeStyle(false);
  expect([bold, dim, red, green, yellow, cyan].map((style) => style("x"))).toEqual(["x", "x", "x", "x", "x", "x"]);
});

test("sets colour and takes back what it set, and nothing more", () => {
  const { bold, red } = makeStyle(true);
  expect(bold(`a ${red("b")} c`)).toBe("\u001b[1ma \u001b[31mb\u001b[39m c\u001b[22m");
});

test("makes nothing of nothing", () => {
  expect(makeStyle(true).red("")).toBe("");
});
