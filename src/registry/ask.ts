import type { Contract, Question, View } from "../store/store.js";

/** The answers to named lists of questions: for each question the contracts found. */
type Answers<Q extends Record<string, readonly Question[]>> = {
  readonly [N in keyof Q]: Q[N] extends readonly Question<infer F>[] ? readonly (readonly Contract<F>[])[] : never;
};

/** Asks named lists of questions in one round trip, however many there are. */
export async function ask<Q extends Record<string, readonly Question[]>>(view: View, lists: Q): Promise<Answers<Q>> {
  // Plain loops: every request passes here, some twice.
  const questions: Question[] = [];
  for (const list of Object.values(lists)) questions.push(...list);
  const found: readonly (readonly Contract[])[] = await view.read(questions);
  const named: Record<string, readonly (readonly Contract[])[]> = {};
  let next = 0;
  for (const [name, { length }] of Object.entries(lists)) named[name] = found.slice(next, (next += length));
  // Each slice holds what the view found for that list, in its order.
  return named as unknown as Answers<Q>;
}
