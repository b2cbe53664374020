// The rules answer for a contract of another registrar or kind as for one that does not exist. Operators see what it is.
import type { JsonObject } from "../../domain/json.js";
import type { Contract } from "../../domain/contract.js";
import type { ExplainedSearch } from "../../registry/explain/explanation.js";
import type { FoundContract } from "../../registry/party-search.js";
import { choiceCallMessage } from "../console/choice-call.js";
import type { Explained } from "./explainer.js";

/** A settlement names many allocations. */
const MAX_LOOKUPS = 50;
/** The causes behind which a contract may be hidden. */
const HIDING = new Set(["instruction-unknown", "registrar-not-served"]);

/** The explanation with the contracts that the request names and the rules hide, each with what to do. */
export async function showHiddenContracts(
  explained: Explained,
  findContract: (contractId: string) => Promise<FoundContract>,
): Promise<Explained> {
  const { explanation, refusal, operation } = explained;
  if (explanation === undefined || refusal?.causes.some(({ code }) => HIDING.has(code)) !== true) return explained;
  const searches: ExplainedSearch[] = [];
  let lookups = 0;
  for (const search of explanation.searches) {
    const { contractId } = search.sought;
    if (contractId === undefined || search.candidates.length > 0 || ++lookups > MAX_LOOKUPS) searches.push(search);
    else searches.push(describe(search, await findContract(contractId), operation));
  }
  const { attempts, requirements, disclosures, changes, changesNote, notes } = explanation;
  return {
    ...explained,
    explanation: { attempts, searches, requirements, disclosures, changes, changesNote, notes },
  };
}

function describe(
  search: ExplainedSearch,
  { contract, isArchived, calls }: FoundContract,
  operation: string,
): ExplainedSearch {
  if (contract === undefined) return isArchived ? { ...search, remedy: ARCHIVED } : search;
  const registrar = registrarOf(contract);
  const entity = contract.template.qualifiedName.split(":")[1] ?? contract.template.qualifiedName;
  const article = /^[AEIOU]/.test(entity) ? "an" : "a";
  const kind = `is ${article} ${entity}${registrar === undefined ? "" : ` of registrar ${registrar}`}`;
  const operations = calls.flatMap((call) => choiceCallMessage(call)?.operation ?? []);
  const todo = todoFor(operations, operation, hasOther(search, registrar));
  return {
    ...search,
    candidates: [{ contract, isChosen: false, reason: kind }],
    remedy: `Contract ${contract.contractId} ${kind}: ${todo}.`,
  };
}

const ARCHIVED =
  "The contract was archived, as one of another registrar: use the instruction that replaced it, if there is one.";

const hasOther = ({ sought }: ExplainedSearch, registrar: string | undefined): boolean =>
  sought.registrar !== undefined && registrar !== undefined && sought.registrar !== registrar;

/** `operations` are those about the contract. */
function todoFor(operations: readonly string[], operation: string, isOfOther: boolean): string {
  const [first] = operations;
  if (first === undefined) return "no operation is about such contracts, so check the contract id";
  if (isOfOther && operations.some((one) => apiOf(one) === apiOf(operation))) return "use that registrar";
  return `use an operation for that kind, such as ${first}${isOfOther ? ", with that registrar" : ""}`;
}

/** `offledger.allocation` of `offledger.allocation.v2.AllocationService/GetSettlementFactory`. */
const apiOf = (operation: string): string => operation.split(".").slice(0, 2).join(".");

function registrarOf({ template, fields, payload }: Contract): string | undefined {
  const named = template.registrarOf?.(fields);
  if (named !== undefined) return named;
  // Answers of every registrar may use it; holdings have one all the same.
  const { registrar } = JSON.parse(payload) as JsonObject;
  return typeof registrar === "string" ? registrar : undefined;
}
