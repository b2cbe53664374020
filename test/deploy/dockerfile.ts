import { readFileSync } from "node:fs";
import { type Copy, DockerfileParser, type Instruction } from "dockerfile-ast";

export const dockerfile = readFileSync("deploy/Dockerfile", "utf8");

export interface Copied {
  /** The source stage; undefined for the build context. */
  readonly stage: string | undefined;
  readonly flags: readonly string[];
  readonly sources: readonly string[];
  readonly target: string;
}

export interface Stage {
  readonly image: string;
  readonly copied: readonly Copied[];
  readonly runs: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The arguments of the last instruction with a keyword. */
  last(keyword: string): string;
  /** The same for arguments in the JSON form: a command without a shell. */
  command(keyword: string): readonly string[];
}

export function stages(): Stage[] {
  const groups: Instruction[][] = [];
  for (const instruction of DockerfileParser.parse(dockerfile).getInstructions()) {
    if (instruction.getKeyword() === "FROM") groups.push([]);
    groups.at(-1)?.push(instruction);
  }
  return groups.map(parseStage);
}

function parseStage(instructions: readonly Instruction[]): Stage {
  const all = (keyword: string) => instructions.filter((instruction) => instruction.getKeyword() === keyword);
  const last = (keyword: string): string => {
    const found = all(keyword).at(-1);
    if (found === undefined) throw new Error(`the stage has no ${keyword}`);
    return found.getRawArgumentsContent()?.replaceAll(/\\\n\s*/g, "") ?? "";
  };
  const pairs = all("ENV").flatMap((instruction) => readValues(instruction).map((pair) => pair.split(/=(.*)/s)));
  return {
    image: all("FROM")[0]?.getExpandedArguments()[0]?.getValue() ?? "",
    copied: all("COPY").map(parseCopy),
    runs: all("RUN").map((instruction) => instruction.getRawArgumentsContent() ?? ""),
    env: Object.fromEntries(pairs.map(([name = "", value = ""]) => [name, value])),
    last,
    command: (keyword) => JSON.parse(/\[.*\]/s.exec(last(keyword))?.[0] ?? "not a JSON array") as string[],
  };
}

function parseCopy(instruction: Instruction): Copied {
  // dockerfile-ast returns a Copy for the keyword COPY.
  const flags = (instruction as Copy).getFlags();
  const stage = flags.find((flag) => flag.getName() === "from")?.getValue() ?? undefined;
  const paths = readValues(instruction);
  return { stage, flags: flags.map(String), sources: paths.slice(0, -1), target: paths.at(-1) ?? "" };
}

const readValues = (instruction: Instruction): string[] =>
  instruction.getExpandedArguments().map((argument) => argument.getValue());
