/** What a test has a transaction do -> the nodes of that transaction, in their order. */
import type { JsonValue } from "../src/domain/json.js";
import type { Change, Contract, Exercised } from "./entries.js";

/** A contract to be created; what is left out is filled in. */
export type Creation = Omit<Contract, "observers" | "createdAt"> & Partial<Pick<Contract, "observers" | "createdAt">>;

/** A choice that is exercised; what is left out is empty. */
export interface Exercise {
  readonly contractId: string;
  readonly choice: string;
  readonly argument?: JsonValue;
  readonly result?: JsonValue;
  /** Whether it archives the contract; false where not said. */
  readonly consuming?: boolean;
  /** The first signatory where not said. */
  readonly actors?: readonly string[];
  /** What comes of it. Who sees the choice sees that too. */
  readonly steps?: readonly Step[];
}

/** To archive is to exercise the choice Archive, which is consuming. */
export type Step = { readonly create: Creation } | { readonly archive: string } | { readonly exercise: Exercise };

interface Creating {
  readonly create: Creation;
  readonly parent: number | undefined;
}

/** A choice, whether or not it archives its contract. */
export interface Exercising {
  readonly contractId: string;
  readonly consuming: boolean;
  readonly exercised: Exercised;
  readonly parent: number | undefined;
}

/** Something that a transaction does; its index is its node id, `parent` the choice of which it comes. */
export type Node = Creating | Exercising;

/** The steps as nodes: each choice before what comes of it. */
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

/** Who sees a node: an observer of a contract does not see a choice that leaves it as it is. */
export function witnessesOf(node: Node, { signatories, observers }: Contract, above: readonly string[]): string[] {
  const isQuiet = "consuming" in node && !node.consuming;
  const actors = "exercised" in node ? node.exercised.actors : [];
  return [...new Set([...signatories, ...(isQuiet ? [] : observers), ...actors, ...above])];
}

/** The changes, those marked that are about contracts which do not outlast their transaction. */
export function transient(changes: readonly Change[]): Change[] {
  const ids = (did: Change["did"]) =>
    new Set(changes.filter((change) => change.did === did).map(({ contract }) => contract.contractId));
  const [created, archived] = [ids("create"), ids("archive")];
  return changes.map((change) => {
    const { contractId } = change.contract;
    const isTransient = created.has(contractId) && archived.has(contractId);
    return "isTransient" in change ? { ...change, isTransient } : change;
  });
}
