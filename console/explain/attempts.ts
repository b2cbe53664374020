/** The attempts at an answer, where there are several. */
import { causeList } from "../causes.js";
import { h } from "../dom.js";
import type { Attempt, Explanation } from "../messages.js";
import { badge, cards, contractLine, section, sentence } from "../parts.js";

/** Empty if there is one attempt: the whole explanation is about it. */
export function attemptParts({ attempts = [], succeeds = false }: Explanation): readonly HTMLElement[] {
  if (attempts.length < 2) return [];
  const list = attempts.map((attempt, index) =>
    h(
      "article",
      { class: "card" },
      h("h3", {}, sentence(attempt.name ?? ""), " ", attemptBadge(attempt, index + 1, succeeds)),
      h("p", {}, contractLine(attempt.contract)),
      (attempt.causes ?? []).length > 0 && causeList(attempt.causes),
    ),
  );
  return [section("Attempts", cards(...list))];
}

/** Says to which attempt a search or requirement belongs; undefined if there is no need to. */
export function attemptOf(
  { attempts = [], succeeds = false }: Explanation,
  number: number | undefined,
): HTMLElement | undefined {
  const attempt = number === undefined ? undefined : attempts[number - 1];
  if (number === undefined || attempt === undefined || attempts.length < 2) return undefined;
  return attemptBadge(attempt, number, succeeds);
}

function attemptBadge({ answered = false }: Attempt, number: number, succeeds: boolean): HTMLElement {
  if (!answered) return badge(`attempt ${number}, given up`, "warn");
  return badge(`attempt ${number}, gives the ${succeeds ? "answer" : "error"}`);
}
