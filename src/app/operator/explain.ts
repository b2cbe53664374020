import type { Config } from "../../config/config.js";
import type { Registry } from "../../registry/sdk/registry.js";
import { explain } from "../../service/explain/explain.js";
import type { KeptRefusals } from "../../service/explain/explainer.js";
import type { ServiceBinding } from "../../service/service-binding.js";
import { createExplainer, type ExplainerOptions } from "../../transport/explainer.js";
import type { ShutdownSequence } from "../shutdown-sequence.js";
import { createPreparer } from "./preparer.js";

export interface ExplainServiceOptions extends ExplainerOptions {
  readonly config: Config;
  readonly registry: Registry;
  readonly refusals: KeptRefusals;
}

/** Creates the service of explanations for the operator's port. Throws the system's error if the CA file cannot be read. */
export async function createExplain(
  { config, registry, refusals, ...options }: ExplainServiceOptions,
  shutdown: ShutdownSequence,
): Promise<ServiceBinding> {
  return explain({
    explainer: createExplainer({ ...options, rootRegistrar: config.rootRegistrar }),
    refusals,
    packageVersion: (packageId) => registry.lookup?.packageVersion(packageId),
    preparer: await createPreparer(config, shutdown),
  });
}
