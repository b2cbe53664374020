/**
 * A copy of the files from which the client is generated and packed, so that tests that pack it at the same time do not
 * share folders, and that it has nothing that an earlier build left.
 */
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = fileURLToPath(new URL("../../", import.meta.url));

const SOURCES = ["package.json", "buf.yaml", "tsconfig.json", "proto", "scripts", "packages"];
/** Generated files are not part of a checkout. */
const GENERATED = new Set(["dist", "gen", "node_modules"]);

interface Checkout {
  /** The folder that contains the checkout, for projects beside it. */
  readonly parent: string;
  readonly folder: string;
  remove(): Promise<void>;
}

/** The packages of `npm ci` are those of this repository. */
export async function createCheckout(): Promise<Checkout> {
  const parent = await mkdtemp(join(tmpdir(), "offledger-checkout-"));
  const folder = join(parent, "offledger");
  await mkdir(folder);
  for (const source of SOURCES) {
    await cp(join(repository, source), join(folder, source), {
      recursive: true,
      filter: (path) => !GENERATED.has(path.split("/").at(-1) ?? ""),
    });
  }
  await symlink(join(repository, "node_modules"), join(folder, "node_modules"));
  return { parent, folder, remove: () => rm(parent, { recursive: true }) };
}
