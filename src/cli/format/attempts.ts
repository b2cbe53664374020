/** Explanations group what was looked for by attempt where there are several. */
import type { Attempt, ExplainResponse } from "../../../gen/offledger/explain/v1/explain_pb.js";

type Attempted = Pick<ExplainResponse, "attempts" | "succeeds">;

/** Sections with a title for each attempt that has lines; one section if there is only one attempt. */
export function sectionsByAttempt<T extends { readonly attempt: number }>(
  title: string,
  items: readonly T[],
  { attempts, succeeds }: Attempted,
  format: (item: T) => readonly string[],
): readonly (readonly string[])[] {
  if (attempts.length < 2) return [section(title, items.flatMap(format))];
  return [...new Set(items.map(({ attempt }) => attempt))].map((number) => {
    const attempt = attempts[number - 1];
    const lines = items.filter((item) => item.attempt === number).flatMap(format);
    const of = attempt === undefined ? " before any attempt" : ` in attempt ${number}: ${outcomeOf(attempt, succeeds)}`;
    return section(title + of, lines);
  });
}

/** The attempts and why they were given up, if there are several. */
export const formatAttempts = (
  { attempts, succeeds }: Attempted,
  describe: (attempt: Attempt) => readonly string[],
): string[] =>
  section(
    "attempts",
    attempts.length < 2
      ? []
      : attempts.flatMap((attempt, index) => [
          `  attempt ${index + 1}: ${outcomeOf(attempt, succeeds)}`,
          ...describe(attempt),
          ...attempt.causes.map(({ code, message }) => `    ${code}: ${message}`),
        ]),
  );

export const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [title, ...lines];

function outcomeOf({ answered }: Attempt, succeeds: boolean): string {
  if (!answered) return "given up";
  return succeeds ? "gives the answer" : "gives the error";
}
