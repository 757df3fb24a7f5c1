import { expect, test } from "vitest";
import { isPassedByForce, mustBeArchived, reason, type ReasonCode } from "../../src/classify/reason.ts";
import { QUESTIONS } from "../../src/model/evidence.ts";

/** SPEC §2 and §6.10: whether the flag passes a reason by itself, and whether its content is saved first. */
const RULES = {
  locked: { passes: true, saved: false },
  uncommitted: { passes: true, saved: true },
  ignored: { passes: true, saved: false },
  "in-progress": { passes: true, saved: true },
  unpushed: { passes: true, saved: true },
  "embedded-repository": { passes: false, saved: false },
  "could-not-tell": { passes: true, saved: true },
  "live-registration": { passes: false, saved: false },
  "in-use": { passes: false, saved: false },
  nested: { passes: false, saved: false },
  "mount-point": { passes: false, saved: false },
  "not-removable": { passes: false, saved: false },
} as const satisfies Record<ReasonCode, object>;

test.each(Object.entries(RULES) as [ReasonCode, { passes: boolean; saved: boolean }][])(
  "%s: %j",
  (code, { passes, saved }) => {
    expect(isPassedByForce(reason(code, ""))).toBe(passes);
    expect(mustBeArchived(reason(code, ""))).toBe(saved);
  },
);

test("what could not be told is passed only where saving everything makes up for the answer", () => {
  const passed = QUESTIONS.filter((question) =>
    isPassedByForce(reason("could-not-tell", "", { questions: [question] })),
  );
  expect(passed).toEqual(["uncommitted", "ignored", "in-progress", "unpushed"]);
});

test("several open questions are passed only when each of them is", () => {
  const open = (...questions: (typeof QUESTIONS)[number][]) => reason("could-not-tell", "", { questions });
  expect(isPassedByForce(open("uncommitted", "ignored"))).toBe(true);
  expect(isPassedByForce(open("uncommitted", "in-use"))).toBe(false);
});

test("a reason names paths, commits and questions only where it is given some", () => {
  expect(reason("uncommitted", "x")).toEqual({
    code: "uncommitted",
    detail: "x",
    paths: [],
    commits: [],
    questions: [],
  });
  expect(reason("uncommitted", "x", { paths: ["a"] })).toEqual({
    code: "uncommitted",
    detail: "x",
    paths: ["a"],
    commits: [],
    questions: [],
  });
});
