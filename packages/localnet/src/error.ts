/** What is wrong with what the user has given, or with what is there; its message says what to do. */
export class SetUpError extends Error {
  override readonly name = "SetUpError";
}
