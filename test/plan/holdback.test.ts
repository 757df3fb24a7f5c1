import { expect, test } from "vitest";
import { holdback } from "../../src/plan/holdback.ts";

test.each([
  ["nothing was dropped and nothing is left", [], [], null, "none", []],
  ["nothing was dropped", [], ["b"], null, "none", []],
  ["nothing was dropped, and what is left could not be told", [], [], "fatal", "none", []],
  ["all that git would drop was dropped", ["a"], [], null, "pruned", []],
  ["git would drop more than was approved", ["a"], ["b", "c"], null, "held-back", ["b", "c"]],
  ["what is left could not be told", ["a"], [], "fatal", "held-back", []],
] as const)("when %s", (_, dropped, left, error, action, heldBackBy) => {
  expect(
    holdback(
      dropped,
      [],
      left.map((name) => ({ name })),
      error,
    ),
  ).toEqual({
    action,
    heldBackBy,
    dropped,
    failed: [],
    error,
  });
});

test("what could not be dropped is told beside what was", () => {
  expect(holdback(["a"], ["b"], [{ name: "b" }], null)).toEqual({
    action: "held-back",
    heldBackBy: ["b"],
    dropped: ["a"],
    failed: ["b"],
    error: null,
  });
});
