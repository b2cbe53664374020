import { JsonReader } from "./json-reader.js";
import type { FactoryQuery } from "./queries.js";

/** Reads the choice arguments of a query. Errors name the field of the request that had them. */
export function argumentsReader({ choiceArguments, argumentsName = "choiceArguments" }: FactoryQuery): JsonReader {
  return new JsonReader(choiceArguments, argumentsName);
}
