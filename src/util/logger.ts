/** The part of a logger that this service uses. pino implements it. */
export interface Logger {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** What was thrown, as text for the log. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
