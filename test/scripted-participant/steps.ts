/** Converts the steps of a scripted transaction into its nodes, in order. */
import type { JsonValue } from "../../src/domain/json.js";
import type { Change, Contract, Exercised } from "./entries.js";

/** A contract to create. Absent fields get defaults. */
export type Creation = Omit<Contract, "observers" | "createdAt"> & Partial<Pick<Contract, "observers" | "createdAt">>;

/** A choice to exercise. Absent fields are empty. */
export interface Exercise {
  readonly contractId: string;
  readonly choice: string;
  readonly argument?: JsonValue;
  readonly result?: JsonValue;
  /** Whether it archives the contract. Default false. */
  readonly consuming?: boolean;
  readonly actors?: readonly string[];
  /** Its consequences. Witnesses of the choice see them too. */
  readonly steps?: readonly Step[];
}

/** Archiving exercises the consuming choice Archive. */
export type Step = { readonly create: Creation } | { readonly archive: string } | { readonly exercise: Exercise };

interface Creating {
  readonly create: Creation;
  readonly parent: number | undefined;
}

export interface Exercising {
  readonly contractId: string;
  readonly consuming: boolean;
  readonly exercised: Exercised;
  readonly parent: number | undefined;
}

/** A node of a transaction. Its index is its node id; `parent` is the choice that caused it. */
export type Node = Creating | Exercising;

/** The steps as nodes, each choice before its consequences. */
export function flattened(steps: readonly Step[], first = 0, parent?: number): Node[] {
  const nodes: Node[] = [];
  for (const step of steps) {
    const nodeId = first + nodes.length;
    if ("create" in step) {
      nodes.push({ create: step.create, parent });
      continue;
    }
    const exercise: Exercise =
      "archive" in step ? { contractId: step.archive, choice: "Archive", consuming: true } : step.exercise;
    const { contractId, choice, argument = {}, result = {}, consuming = false, actors = [] } = exercise;
    const inner = flattened(exercise.steps ?? [], nodeId + 1, nodeId);
    const exercised = { choice, argument, result, actors, lastNodeId: nodeId + inner.length };
    nodes.push({ contractId, consuming, exercised, parent }, ...inner);
  }
  return nodes;
}

/** The witnesses of a node. Observers do not see non-consuming choices. */
export function witnessesOf(node: Node, { signatories, observers }: Contract, above: readonly string[]): string[] {
  const isQuiet = "consuming" in node && !node.consuming;
  const actors = "exercised" in node ? node.exercised.actors : [];
  return [...new Set([...signatories, ...(isQuiet ? [] : observers), ...actors, ...above])];
}

/** Marks changes of contracts that are created and archived in the same transaction. */
export function transient(changes: readonly Change[]): Change[] {
  const ids = (type: Change["type"]) =>
    new Set(changes.filter((change) => change.type === type).map(({ contract }) => contract.contractId));
  const [created, archived] = [ids("create"), ids("archive")];
  return changes.map((change) => {
    const { contractId } = change.contract;
    const isTransient = created.has(contractId) && archived.has(contractId);
    return "isTransient" in change ? { ...change, isTransient } : change;
  });
}
