/** Details of refusals with ids of the size that they have on a ledger, as clients of every RPC protocol get them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId, party } from "../../../demo/element.js";
import { AllocationService } from "../../../gen/offledger/allocation/v1/allocation_service_pb.js";
import type { Cause } from "../../../src/domain/cause.js";
import { RegistryError } from "../../../src/domain/errors.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import { type Refusal, type RefusedCall, refusedCalls } from "../../fixtures/error-details.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

/** A party with a hint of 30 characters: 100 in all. */
const partyOf = (hint: string): string => party(hint.padEnd(30, "-"));
const registrar = partyOf("nordic-registrar");
const issuer = partyOf("identity-issuer");
const synchronizers = [party("global-domain"), party("private-synchronizer")];
const claims = [
  { property: "kycLevel", value: "enhanced-due-diligence" },
  { property: "jurisdiction", value: "NO" },
];

const missing = (n: number) => ({
  code: "credential-missing",
  party: partyOf(`holder-${n}`),
  issuer,
  claims,
  template: "Utility.Credential.V0.Credential:Credential",
});

/** Every field that a cause of the Registry Utility may have. */
const elsewhere = (n: number) => ({
  ...missing(n),
  code: "no-common-synchronizer",
  registrar,
  instrument: "NORDIC-GOVERNMENT-BOND-2031",
  contractId: contractId(`contract ${n}`),
  synchronizers,
});

const withMessage = (cause: Omit<Cause, "message">, n: number): Cause => ({
  ...cause,
  message: `no Credential of ${issuer} for ${cause.party} that claims kycLevel = enhanced-due-diligence (${n})`,
});

/** The error that the rules make of these causes. */
const refusalOf = (causes: readonly Omit<Cause, "message">[]): RegistryError => {
  const all = causes.map(withMessage);
  return new RegistryError("not-found", all.map(({ message }) => message).join("; "), { causes: all });
};

let thrown: RegistryError;
const fail = (): Promise<never> => Promise.reject(thrown);
let server: Server;
let url: string;
beforeAll(async () => {
  const binding = bindPartial(AllocationService, { getAllocationWithdrawContext: fail });
  server = await createServer([binding], TEST_SERVER_OPTIONS);
  url = await server.listen("127.0.0.1", 0);
});
afterAll(() => server.close(1_000));

const withdraw = {
  method: AllocationService.method.getAllocationWithdrawContext,
  request: { registrarParty: registrar, allocationId: contractId("allocation") },
};

async function refused(call: RefusedCall, causes: readonly Omit<Cause, "message">[]): Promise<Refusal> {
  thrown = refusalOf(causes);
  const refusal = await call(url, withdraw);
  if (refusal === undefined) throw new Error("the call was not refused");
  return refusal;
}

test("ids have the size that is said", () => {
  expect([registrar.length, contractId("contract").length, synchronizers[0]?.length]).toEqual([100, 138, 83]);
});

describe.each(Object.entries(refusedCalls))("%s", (name, call) => {
  /** Where Connect has the details. */
  const inBody = name.includes("Connect");

  test("gets every field of one cause", async () => {
    const { metadata, reason, message, refusal } = await refused(call, [elsewhere(0)]);
    expect(reason).toBe("NO_COMMON_SYNCHRONIZER");
    expect(metadata).toEqual({
      registrar,
      instrument: "NORDIC-GOVERNMENT-BOND-2031",
      party: partyOf("holder-0"),
      issuer,
      claims: "kycLevel = enhanced-due-diligence, jurisdiction = NO",
      contractId: contractId("contract 0"),
      template: "Utility.Credential.V0.Credential:Credential",
      synchronizers: synchronizers.join(", "),
    });
    expect(message).toBe(thrown.message);
    expect(refusal).toBeUndefined();
  });

  test("gets every field of three causes", async () => {
    const causes = [elsewhere(0), missing(1), elsewhere(2)];
    const { refusal, message } = await refused(call, causes);
    expect(refusal).toEqual({ causes, omitted: 0 });
    expect(message).toBe(thrown.message);
  });

  test("gets the causes that its protocol has room for, and how many there are more", async () => {
    const causes = Array.from({ length: 24 }, (_, n) => missing(n));
    const { refusal, metadata, message } = await refused(call, causes);
    const kept = refusal?.causes.length ?? 0;
    expect(refusal).toEqual({ causes: causes.slice(0, kept), omitted: 24 - kept });
    expect(metadata).toMatchObject({ party: partyOf("holder-0"), issuer });
    expect(metadata).not.toHaveProperty("omitted");
    expect(kept).toBeGreaterThanOrEqual(inBody ? 24 : 8);
    expect(message.length).toBeGreaterThan(inBody ? 4_000 : 1_000);
    expect(thrown.message.startsWith(message.replace(/…$/, ""))).toBe(true);
    expect(message.endsWith("…")).toBe(!inBody);
  });

  test("gets the other fields and causes where one is far too long", async () => {
    const long = { ...elsewhere(0), claims: [{ property: "p".repeat(9_000), value: "v" }] };
    const { refusal, metadata } = await refused(call, [long, missing(1), missing(2)]);
    expect(refusal).toEqual({ causes: [missing(1), missing(2)], omitted: 1 });
    expect(metadata).toEqual({
      registrar,
      instrument: "NORDIC-GOVERNMENT-BOND-2031",
      party: partyOf("holder-0"),
      issuer,
      contractId: contractId("contract 0"),
      template: "Utility.Credential.V0.Credential:Credential",
      synchronizers: synchronizers.join(", "),
      omitted: "claims",
    });
  });
});
