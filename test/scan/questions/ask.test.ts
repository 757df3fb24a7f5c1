import { expect, test } from "vitest";
import { answered, unanswered } from "../../../src/model/evidence.ts";
import { ask, askWith } from "../../../src/scan/questions/ask.ts";

test("what a probe returns is an answer, also when it is nothing", async () => {
  expect(await ask(async () => 3)).toEqual(answered(3));
  expect(await ask(async () => null)).toEqual(answered(null));
});

test("what a probe throws is no answer, with its words", async () => {
  expect(await ask(() => Promise.reject(new Error("fatal: bad object")))).toEqual(unanswered("fatal: bad object"));
  expect(
    await ask(() => {
      throw new Error("at once");
    }),
  ).toEqual(unanswered("at once"));
  expect(await ask(() => Promise.reject("a text" as unknown as Error))).toEqual(unanswered("a text"));
});

test("a question that rests on an answer is asked with it", async () => {
  expect(await askWith(answered(3), async (value) => value + 1)).toEqual(answered(4));
  expect(await askWith(answered(3), () => Promise.reject(new Error("no")))).toEqual(unanswered("no"));
});

test("a question that rests on no answer is not asked, and goes without one for the same words", async () => {
  let asked = false;
  const answer = await askWith(unanswered("fatal"), async () => {
    asked = true;
  });
  expect(answer).toEqual(unanswered("fatal"));
  expect(asked).toBe(false);
});
