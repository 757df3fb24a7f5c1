import { wordsOf } from "../../errors.ts";
import { answered, unanswered, type Answer } from "../../model/evidence.ts";

/** Puts one question: whatever is thrown on the way is no answer, with its words (SPEC §6.1). */
export async function ask<T>(probe: () => Promise<T>): Promise<Answer<T>> {
  try {
    return answered(await probe());
  } catch (error) {
    return unanswered(wordsOf(error));
  }
}

/** Puts a question that rests on the answer to another: without that answer, there is none to this one either. */
export async function askWith<A, T>(ground: Answer<A>, probe: (value: A) => Promise<T>): Promise<Answer<T>> {
  return ground.kind === "answered" ? ask(() => probe(ground.value)) : ground;
}
