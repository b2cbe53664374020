/** A service with its operator's port, which explains requests. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { startApp } from "../../src/app/app.js";
import type { JsonObject } from "../../src/domain/json.js";
import { quiet } from "../fixtures/run-service.js";

const NOW = Date.parse("2026-06-01T00:00:00Z");

interface Explanation {
  readonly status: number;
  readonly body: ExplainJson;
}

/** The response as JSON. Only what the tests read. */
export interface ExplainJson {
  readonly operation: string;
  readonly succeeds: boolean;
  readonly answer?: JsonObject;
  readonly status: string;
  readonly error: string;
  readonly causes: readonly CauseJson[];
  readonly changes: readonly { readonly cause: CauseJson; readonly remedy: string }[];
  readonly notes: readonly string[];
  readonly searches: readonly {
    readonly name: string;
    readonly omittedCandidates: number;
    readonly entries: readonly string[];
    readonly candidates: readonly { contract: { contractId: string }; chosen: boolean; reason: string }[];
  }[];
  readonly requirements: readonly {
    readonly party: string;
    readonly claims: readonly {
      property: string;
      credential: string;
      passedOver: { reason: string }[];
      omittedPassedOver: number;
    }[];
  }[];
  readonly disclosures: readonly { contract: { contractId: string }; entries: readonly string[] }[];
  readonly validUntil?: string;
}

interface CauseJson {
  readonly code: string;
  readonly party: string;
  readonly contractId: string;
}

export interface ExplainingService {
  readonly url: string;
  readonly operatorUrl: string;
  /** POSTs JSON to the public port; returns the status and the text of the body. */
  send(
    operation: string,
    body: JsonObject,
    headers?: Record<string, string>,
  ): Promise<{ status: number; text: string }>;
  explain(request: JsonObject): Promise<Explanation>;
}

/** Serves elements until the test ends. `contexts` is the content of the operator's contexts file. */
export async function explainingService(
  elements: readonly JsonObject[],
  contexts: JsonObject = {},
): Promise<ExplainingService> {
  const folder = await mkdtemp(join(tmpdir(), "offledger-explain-"));
  const [snapshot, contextsPath] = [join(folder, "registry.ndjson"), join(folder, "contexts.yaml")];
  await writeFile(snapshot, elements.map((one) => `${JSON.stringify(one)}\n`).join(""));
  // JSON is YAML.
  await writeFile(contextsPath, JSON.stringify(contexts));
  const app = await startApp({ ...quiet(), snapshot, contexts: contextsPath, metricsPort: 0 }, () => NOW);
  onTestFinished(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });
  const operatorUrl = (app.metricsUrl ?? "").replace(/\/metrics$/, "");
  const json = { "content-type": "application/json" };
  return {
    url: app.url,
    operatorUrl,
    async send(operation, body, headers = {}) {
      const [method = "", path = ""] = operation.split(" ");
      const response = await fetch(app.url + path, {
        method,
        headers: { ...json, ...headers },
        ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, text: await response.text() };
    },
    async explain(request) {
      const response = await fetch(`${operatorUrl}/api/offledger/v1/explain`, {
        method: "POST",
        headers: json,
        body: JSON.stringify(request),
      });
      return { status: response.status, body: (await response.json()) as ExplainJson };
    },
  };
}
