import type { Problem } from "../../../util/object-reader.js";

/** The first part of the path of a problem that is not in the operator's file but in a module. */
export const MODULE_PATH = "module";

/** The operator's contexts file or a module is wrong. */
export class ContextsError extends Error {
  /** At least one. */
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ reason }) => reason).join("\n"));
    this.name = "ContextsError";
    this.problems = problems;
  }
}
