import type { Problem } from "../../../util/object-reader.js";

/** How the paths of problems of a module begin. */
export const MODULE_PATH = "module";

/** The operator's contexts file or a module is wrong. */
export class ContextsError extends Error {
  /** Problems of the module, and of the operator's file. One of the lists has at least one. */
  readonly ofModule: readonly Problem[];
  readonly ofFile: readonly Problem[];

  constructor(ofModule: readonly Problem[], ofFile: readonly Problem[]) {
    super([...ofModule, ...ofFile].map(({ reason }) => reason).join("\n"));
    this.name = "ContextsError";
    this.ofModule = ofModule;
    this.ofFile = ofFile;
  }
}
