/**
 * The clients: folders of clients/ with
 * - client.json: its language; its stacks, as "name version"; the commands that it needs on the PATH;
 * - run.sh: `run.sh build` generates code and builds; `run.sh <name of a stack>` runs that stack's checks.
 */
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";

export interface Stack {
  readonly name: string;
  readonly version: string;
}

export interface Client {
  /** The name of the folder. */
  readonly name: string;
  readonly language: string;
  readonly stacks: readonly Stack[];
  readonly commands: readonly string[];
  readonly script: string;
}

const root = "clients";

/** All clients, by name. */
export function findClients(): Client[] {
  const names = readdirSync(root).filter((name) => existsSync(join(root, name, "client.json")));
  return names.toSorted().map((name) => readClient(name));
}

function readClient(name: string): Client {
  const path = join(root, name, "client.json");
  const { language, stack, commands } = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  if (typeof language !== "string" || !isNames(commands)) {
    throw new Error(`${path} must have a language and a list of commands`);
  }
  const stacks = (Array.isArray(stack) ? stack : [stack]).map((text: unknown) => {
    const [, stackName, version] = /^(\S+) (\S+)$/.exec(String(stack === undefined ? "" : text)) ?? [];
    if (stackName === undefined || version === undefined) {
      throw new Error(`${path}: a stack must be "name version", but is ${JSON.stringify(text)}`);
    }
    return { name: stackName, version };
  });
  return { name, language, stacks, commands, script: join(root, name, "run.sh") };
}

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

/** The commands of a client that this machine lacks. */
export function missingCommands({ commands }: Client): string[] {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return commands.filter((command) => !folders.some((folder) => isExecutable(join(folder, command))));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
