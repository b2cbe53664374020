/** The transfer that clients ask about, and what the ledger of the demo says of it. */
import { readFileSync } from "node:fs";
import { party } from "../../demo/element.js";

const REGISTRAR = party("nordic-registrar");
const INSTRUMENT = "NOK-CASH";

interface CreatedEvent {
  readonly contractId: string;
  readonly templateId: string;
  readonly createArgument: Readonly<Record<string, unknown>>;
  readonly createdEventBlob: string;
}

/** The blob is in base64. */
export function transferEnvironment(): Readonly<Record<string, string>> {
  const lines = readFileSync("demo/registry.ndjson", "utf8").trim().split("\n");
  const contracts = lines.flatMap((line) => {
    const { contractEntry } = JSON.parse(line) as {
      contractEntry: { JsActiveContract?: { createdEvent: CreatedEvent } };
    };
    return contractEntry.JsActiveContract === undefined ? [] : [contractEntry.JsActiveContract.createdEvent];
  });
  const find = (template: string, text: string): CreatedEvent => {
    const [found, ...others] = contracts.filter(
      ({ templateId, createArgument }) =>
        templateId.endsWith(`:${template}`) &&
        createArgument["registrar"] === REGISTRAR &&
        JSON.stringify(createArgument).includes(text),
    );
    if (found === undefined || others.length > 0) throw new Error(`the demo must have one ${template} with ${text}`);
    return found;
  };
  const factory = find("AllocationFactory", "");
  return {
    REGISTRAR,
    SENDER: party("bob"),
    RECEIVER: party("carol"),
    INSTRUMENT,
    FACTORY_ID: factory.contractId,
    FACTORY_BLOB: factory.createdEventBlob,
    CONFIGURATION_ID: find("InstrumentConfiguration", `"${INSTRUMENT}"`).contractId,
  };
}
