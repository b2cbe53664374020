/** Commands that are tried and not submitted: one that the ledger would accept, and one that it would refuse. */
import type { JsonObject } from "../../src/util/json.js";
import type { Report } from "./flows.js";
import { type Instrument, NO_CONTEXT } from "./instrument.js";
import { templates } from "./ledger.js";

/** With it the ledger refuses a transfer between two parties. */
const SELF_ONLY = { "splice.lfdecentralizedtrust.org/tx-kind": "merge-split" };

export async function dryRun(of: Instrument, report: Report): Promise<void> {
  const input = await of.holding(of.alice);
  await report(`${of.name} dry run of a command that the ledger accepts`, async () => {
    const answer = await prepare(of, of.transfer(of.alice, of.bob, input));
    if (answer.succeeds !== true) throw new Error(JSON.stringify(answer));
    return JSON.stringify(answer);
  });
  await report(`${of.name} dry run of a command that the ledger refuses`, async () => {
    const answer = await prepare(of, of.transfer(of.alice, of.bob, input, SELF_ONLY));
    const { succeeds, error } = answer;
    if (succeeds === true || typeof error !== "string" || error === "") throw new Error(JSON.stringify(answer));
    return `refused, as expected: ${error.slice(0, 300)}`;
  });
  await report(`${of.name} the input of the dry runs is still there`, async () => {
    const argument = of.transfer(of.alice, of.alice, input);
    await of.exercise({
      actAs: [of.alice],
      path: of.standard("transfer-instruction/v1/transfer-factory"),
      body: { choiceArguments: { ...argument, extraArgs: NO_CONTEXT } },
      command: { templateId: templates.transferFactory, choice: "TransferFactory_Transfer", argument },
    });
  });
}

/** The operator's port answers 200 also where the command is refused. */
async function prepare(of: Instrument, choiceArgument: JsonObject): Promise<JsonObject> {
  const operation = `POST ${of.standard("transfer-instruction/v1/transfer-factory")}`;
  const response = await fetch(`${of.service.operatorUrl}/api/offledger/v1/prepare`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      call: { operation, request: { choiceArguments: { ...choiceArgument, extraArgs: NO_CONTEXT } } },
      actAs: [of.alice],
      templateId: templates.transferFactory,
      choice: "TransferFactory_Transfer",
      choiceArgument,
    }),
  });
  const answer = (await response.json()) as JsonObject;
  if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(answer)}`);
  return answer;
}
