import { join } from "node:path";
import { requireProgram, runProgram, type Target } from "./target.js";

const GENERATOR = "7.24.0";
const DEPENDENCY_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.9.0";

/** Clients ignore fields that they do not know, so that a newer service does not break them. */
const OPTIONS = ["disallowAdditionalPropertiesIfNotPresent=false", "hideGenerationTimestamp=true"];

/** Generates a client with the OpenAPI Generator, and returns its folder. */
export async function generateClient(
  { documentFile, folder }: Target,
  generator: string,
  options: readonly string[],
): Promise<string> {
  await requireProgram("java", "-version");
  await requireProgram("mvn", "-version");
  const artifact = `org.openapitools:openapi-generator-cli:${GENERATOR}`;
  await runProgram(
    "mvn",
    ["-q", "-B", `${DEPENDENCY_PLUGIN}:copy`, `-Dartifact=${artifact}`, "-DoutputDirectory=."],
    folder,
  );
  const jar = join(folder, `openapi-generator-cli-${GENERATOR}.jar`);
  await runProgram("java", ["-jar", jar, "validate", "-i", documentFile], folder);
  const client = join(folder, generator);
  const properties = [...OPTIONS, ...options].join(",");
  await runProgram(
    "java",
    ["-jar", jar, "generate", "-g", generator, "-i", documentFile, "-o", client, "--additional-properties", properties],
    folder,
  );
  return client;
}

/** Writes the classpath of a Maven project to a file. */
export async function writeClasspath(project: string, file: string): Promise<void> {
  await runProgram("mvn", ["-q", "-B", `${DEPENDENCY_PLUGIN}:build-classpath`, `-Dmdep.outputFile=${file}`], project);
}
