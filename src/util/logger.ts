/** The part of a logger that this service uses. pino implements it. */
export interface Logger {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** What was thrown, as text. A connection to a name with several addresses fails with an error for each, and no message. */
export function errorMessage(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(errorMessage).join("; ");
  return error instanceof Error ? error.message : String(error);
}
