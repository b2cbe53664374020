import type { Contract } from "../../../domain/contract.js";
import { RegistryError, type RegistryErrorReason } from "../../../domain/errors.js";
import type { ContextDefinition } from "../entries/context-definition.js";
import type { EntryInputs } from "../entries/context-entry.js";
import type { OperationLines } from "./operation-lines.js";
import type { RecordingView } from "./views.js";

/** A reason why an operation fails. */
export interface Problem {
  /** The entry or disclosure that fails; undefined if each can be had, but not all on one synchronizer. */
  readonly line: string | undefined;
  /** The error of a refused request, or the one it would get. */
  readonly error: RegistryError;
  /** Undefined if the request is answered. */
  readonly refusal: RegistryErrorReason | undefined;
  /** A contract in reassignment among the candidates of the line. */
  readonly moving: Contract | undefined;
  /** What the problem depends on. */
  readonly scope: "registrar" | "instrument" | "inputs";
}

/** Answers a request with the given definition. Throws RegistryError as the operation does. */
export type Attempt = (definition: ContextDefinition, inputs: EntryInputs) => void;

/**
 * Everything that makes an operation fail for these inputs. It runs the operation, and if that fails, each of its lines
 * alone: a line that fails alone is a problem of its own.
 */
export function findProblems(
  { answered, strict, lines }: OperationLines,
  view: RecordingView,
  inputs: EntryInputs,
  attempt: Attempt,
): readonly Problem[] {
  const errorOf = (definition: ContextDefinition, given: EntryInputs): RegistryError | undefined => {
    try {
      attempt(definition, given);
      return undefined;
    } catch (error) {
      if (error instanceof RegistryError) return error;
      throw error;
    }
  };
  if (errorOf(strict, inputs) === undefined) return [];
  const problems: Problem[] = [];
  for (const line of lines) {
    view.takeMoving();
    const error = errorOf(line.strict, inputs);
    // Several lines read the configuration, and fail alike.
    if (error === undefined || problems.some((earlier) => earlier.error.message === error.message)) continue;
    const moving = view.takeMoving();
    const scope = scopeOf((given) => errorOf(line.strict, given) !== undefined, inputs);
    problems.push({ line: line.name, error, refusal: errorOf(line.answered, inputs)?.reason, moving, scope });
  }
  if (problems.length > 0) return problems;
  const error = errorOf(answered, inputs);
  if (error === undefined) return [];
  const scope = errorOf(answered, withoutParties(inputs)) === undefined ? "inputs" : "instrument";
  return [{ line: undefined, error, refusal: error.reason, moving: undefined, scope }];
}

function scopeOf(fails: (inputs: EntryInputs) => boolean, inputs: EntryInputs): Problem["scope"] {
  if (!fails(withoutParties(inputs))) return "inputs";
  return fails({ ...withoutParties(inputs), instruments: [] }) ? "registrar" : "instrument";
}

/** The inputs of any request about these instruments. */
const withoutParties = ({ instruments, provider, factory, subject }: EntryInputs): EntryInputs => ({
  instruments,
  provider,
  factory,
  subject,
});
