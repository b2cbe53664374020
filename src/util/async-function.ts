/** The constructors of async functions and generators, which have no global names. */
const constructors = [(async () => {}).constructor, async function* () {}.constructor] as FunctionConstructor[];

/** Whether a value is declared `async`. A function that returns a promise otherwise cannot be recognized. */
export const isAsyncFunction = (value: unknown): boolean =>
  constructors.some((asyncConstructor) => value instanceof asyncConstructor);
