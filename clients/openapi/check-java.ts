import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateClient, writeClasspath } from "./generator.js";
import { runProgram, type Target } from "./target.js";

const source = fileURLToPath(new URL("java/Check.java", import.meta.url));

/** Compiles the generated client with Maven, and calls the service with it. */
export async function checkJava(target: Target): Promise<string> {
  const packages = ["invokerPackage=offledger", "apiPackage=offledger.api", "modelPackage=offledger.model"];
  const project = await generateClient(target, "java", ["library=native", ...packages]);
  cpSync(source, join(project, "src/main/java/Check.java"));
  await runProgram("mvn", ["-q", "-B", "compile"], project);
  const classpathFile = join(project, "classpath.txt");
  await writeClasspath(project, classpathFile);
  const classpath = [join(project, "target/classes"), readFileSync(classpathFile, "utf8").trim()].join(delimiter);
  writeFileSync(join(project, "document.json"), JSON.stringify(target.document));
  const output = await runProgram("java", ["-cp", classpath, "Check", target.url, "document.json"], project);
  return output.trim();
}
