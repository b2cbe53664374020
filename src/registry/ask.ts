import type { Contract, Question, View } from "../store/store.js";

/** The answers to named lists of questions: for each question the contracts found. */
type Answers<Q extends Record<string, readonly Question[]>> = {
  readonly [N in keyof Q]: Q[N] extends readonly Question<infer F>[] ? readonly (readonly Contract<F>[])[] : never;
};

/** Asks named lists of questions in one round trip, however many there are. */
export async function ask<Q extends Record<string, readonly Question[]>>(view: View, lists: Q): Promise<Answers<Q>> {
  const found: readonly (readonly Contract[])[] = await view.read(Object.values(lists).flat());
  let next = 0;
  const named = Object.entries(lists).map(([name, questions]) => {
    const answers = found.slice(next, next + questions.length);
    next += questions.length;
    return [name, answers] as const;
  });
  // Each slice holds what the view found for that list, in its order.
  return Object.fromEntries(named) as unknown as Answers<Q>;
}
