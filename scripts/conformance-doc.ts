/** Writes the list of docs/conformance.md: what a run of the checker over the demo registry says. */
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Result } from "../packages/conformance/src/check.js";
import { type Given, run } from "../packages/conformance/src/run.js";
import { contractId, party } from "../demo/element.js";
import { serveFile } from "../test/fixtures/run-service.js";

const PAGE = "docs/conformance.md";
const COMMENT = "<!-- checks, by npm run conformance -->";
const registrar = party("acme-registrar");

/** All that the demo registry has to be asked with. */
export const demo: Given = {
  registrar,
  instruments: ["ACME-BOND"],
  sender: party("alice"),
  receiver: party("bob"),
  holdings: [contractId("holding free")],
  offer: contractId("offer bond to bob"),
  allocation: contractId("allocation bond leg"),
  allocationInstruction: undefined,
  replica: undefined,
  negative: true,
};
export const PATH = `/api/token-standard/v0/registrars/${registrar}`;

/** The page with the list as it should be: each check by its severity and outcome. */
export function withChecks(page: string, results: readonly Result[]): string {
  const lines = page.split("\n");
  const at = lines.indexOf(COMMENT);
  if (at === -1) throw new Error(`${PAGE} has no line ${COMMENT}`);
  const end = lines.findIndex((line, index) => index > at + 1 && !line.startsWith("- "));
  const named = results.flatMap(({ check, outcome }) =>
    check.severity === "information" ? [] : [{ id: check.id, group: `${check.severity}, ${outcome}` }],
  );
  const rows = [...new Set(named.map(({ group }) => group))].map(
    (group) => `- ${group}: ${named.flatMap((one) => (one.group === group ? [`\`${one.id}\``] : [])).join(", ")}`,
  );
  lines.splice(at + 1, end - at - 1, "", ...rows);
  return lines.join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const service = await serveFile(undefined);
  const results: Result[] = [];
  const given = { ...demo, replica: service.url + PATH };
  await run(service.url + PATH, given, { headers: {}, rate: 1_000 }, (result) => void results.push(result));
  await service.close();
  writeFileSync(PAGE, withChecks(readFileSync(PAGE, "utf8"), results));
}
