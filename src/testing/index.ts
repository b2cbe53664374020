/** The public package `offledger/testing`: tests of a registry, docs/your-own-registry.md, "Tests". */
export { parseRegistryFile } from "../registry/engine/file.js";
export type { RegistryFile } from "../registry/engine/grammar.js";
export {
  answer,
  type AnswerTo,
  type ChoiceAnswer,
  type ContextValue,
  type DisclosedContract,
  type FactoryAnswer,
  type InstrumentsAnswer,
  RefusedRequest,
  type ShortContract,
  type TestContracts,
  type TestOperation,
  type TestRequest,
  type TransferFactoryAnswer,
} from "./answer.js";
export { type CaseResult, parseRegistryTests, type RegistryTests, runRegistryTests } from "./registry-tests.js";
