/** The services of the operator's port. */
import type { Logger } from "pino";
import type { ServiceBinding } from "../../service/service-binding.js";
import { type ConsoleOptions, createConsole } from "./console.js";
import { createExplain, type ExplainServiceOptions } from "./explain.js";
import type { ShutdownSequence } from "../shutdown-sequence.js";

type Options = ConsoleOptions & Omit<ExplainServiceOptions, "refusals" | "report"> & { readonly log: Logger };

export async function operatorServices(
  { log, ...options }: Options,
  shutdown: ShutdownSequence,
): Promise<readonly ServiceBinding[]> {
  const console = createConsole(options);
  shutdown.add(async () => console.close());
  const report = (defect: unknown, rpc?: string) => log.error({ err: defect, rpc }, "explanation failed");
  const { refusals } = options.requests;
  return [console.binding, await createExplain({ ...options, refusals, report }, shutdown)];
}
