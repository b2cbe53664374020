/** Our answers have what public recordings of the published backend's answers contain. */
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { BurnMintInstructionService } from "../../gen/offledger/burn_mint_instruction/v0/burn_mint_instruction_service_pb.js";
import { TransferInstructionService } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import type { JsonObject } from "../../src/domain/json.js";
import { parties } from "../fixtures/elements.js";
import { type Call, type Protocol, protocols } from "../fixtures/protocols.js";
import { serving } from "../fixtures/registries.js";
import type { ServeOptions } from "../fixtures/run-service.js";
import { burnMintFactory, transferChoice, transferFactory, transferV1 } from "../fixtures/requests.js";
import { readContext } from "./answer.js";
import { isBare, isDropped, WITH_ALL, WITH_BARE_NAMES } from "./earlier-contexts.js";
import { hasEvidence, type RecordedAnswer, recordedAnswers } from "./evidence.js";
import { registryOf, type Release } from "./releases.js";

const { registrar } = parties;
const { getTransferFactory, getTransferInstructionAcceptContext } = TransferInstructionService.method;
const { getBurnMintFactory } = BurnMintInstructionService.method;

const call = (method: DescMethodUnary, path: string, body: JsonObject, more: JsonObject = {}): Call => ({
  method,
  path,
  body,
  request: { ...more, ...body },
});

const transfer = call(getTransferFactory, transferFactory(), transferV1("alice", "bob"), { registrarParty: registrar });
const accept = call(
  getTransferInstructionAcceptContext,
  transferChoice("v1", "accept")("offer"),
  { meta: { values: {} } },
  { registrarParty: registrar, transferInstructionId: "offer" },
);
const burnMint = call(getBurnMintFactory, burnMintFactory, {
  instrumentId: { admin: registrar, id: "USD" },
  inputHoldingCids: [],
  outputs: [{ owner: registrar, amount: "1.0" }],
});

/** The request for each recorded answer. The kind of the transfer of 0.12 is not recorded: its entries are those of a direct one. */
const requests: readonly [operation: string, release: Release, call: Call][] = [
  ["transfer-instruction/v1/transfer-factory", "0.10", transfer],
  ["transfer-instruction/v1/{id}/choice-contexts/accept", "0.10", accept],
  ["transfer-instruction/v1/transfer-factory", "0.12", transfer],
  ["registry/burn-mint-instruction/v0/burn-mint-factory", "0.12", burnMint],
];

interface Answer {
  readonly transferKind: string | undefined;
  readonly values: JsonObject;
  /** `Module:Entity` of the disclosed contracts. */
  readonly disclosed: readonly string[];
}

/** Serves a registry of the release and returns its answer. */
async function answerOf(release: Release, protocol: Protocol, asked: Call, options: ServeOptions): Promise<Answer> {
  const { url } = await serving(registryOf(release), options);
  const outcome = await protocol(url, asked);
  if (!outcome.ok) throw new Error(outcome.message);
  const { transferKind, values, disclosed } = readContext(outcome.answer);
  const templates = disclosed.map(({ templateId }) => templateId.split(":").slice(1).join(":"));
  return { transferKind, values, disclosed: templates };
}

function recordingOf(operation: string, release: Release): RecordedAnswer {
  const found = recordedAnswers().filter((each) => each.operation === operation && each.release === release);
  if (found[0] === undefined || found.length > 1) throw new Error(`${operation} of ${release} must be recorded once`);
  return found[0];
}

const sortedKeys = (values: JsonObject): string[] => Object.keys(values).toSorted((a, b) => (a < b ? -1 : 1));

describe.skipIf(!hasEvidence)("recorded answers of the published backend (skipped without the recordings)", () => {
  test("are all compared", () => {
    const recorded = recordedAnswers().map(({ operation, release }) => [operation, release]);
    expect(recorded).toEqual(requests.map(([operation, release]) => [operation, release]));
  });

  describe.each(["REST", "gRPC"])("over %s", (name) => {
    const protocol = protocols[name];
    if (protocol === undefined) throw new Error(`${name} is not a protocol`);

    test.each(requests)("%s of release %s: our answer has all but the dropped entries", async (...of) => {
      const [operation, release, asked] = of;
      const recorded = recordingOf(operation, release);
      const ours = await answerOf(release, protocol, asked, WITH_BARE_NAMES);
      const kept = recorded.keys.filter((key) => !isDropped(key));
      expect(kept).not.toEqual([]);
      expect(sortedKeys(ours.values)).toEqual(expect.arrayContaining(kept));
      expect(ours.values).toMatchObject(recorded.values ?? {});
      expect(ours).toMatchObject(recorded.transferKind === undefined ? {} : { transferKind: recorded.transferKind });
      expect(ours.disclosed).toEqual(expect.arrayContaining(recorded.disclosed?.filter(isNotReward) ?? []));
      expect(sortedKeys(ours.values).filter((key) => recorded.absent?.includes(key))).toEqual([]);
      expect(sortedKeys(ours.values).filter(isDropped)).toEqual([]);
    });

    test.each(requests)("%s of release %s: by default our answer has prefixed names only", async (...of) => {
      const [operation, release, asked] = of;
      const recorded = recordingOf(operation, release);
      const ours = await answerOf(release, protocol, asked, {});
      const kept = recorded.keys.filter((key) => !isDropped(key) && !isBare(key));
      expect(sortedKeys(ours.values)).toEqual(expect.arrayContaining(kept));
      expect(sortedKeys(ours.values).filter(isBare)).toEqual([]);
    });

    test("the dropped entries are in the answer when rewards are turned on", async () => {
      const dropping = requests.filter(([operation, release]) => recordingOf(operation, release).keys.some(isDropped));
      expect(dropping).toHaveLength(1);
      for (const [operation, release, asked] of dropping) {
        const recorded = recordingOf(operation, release);
        const ours = await answerOf(release, protocol, asked, WITH_ALL);
        expect(sortedKeys(ours.values)).toEqual(expect.arrayContaining([...recorded.keys]));
        expect(ours.disclosed).toEqual(expect.arrayContaining([...(recorded.disclosed ?? [])]));
      }
    });
  });
});

/** The contract of the dropped entry is not disclosed without it. */
const isNotReward = (template: string): boolean => !template.endsWith(":AppRewardConfiguration");
