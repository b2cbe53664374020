/** Executes the steps of deploy/Dockerfile in a folder, without the base image. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { promisify } from "node:util";
import type { Copied, Stage } from "./dockerfile.js";

const exec = promisify(execFile);
const BUILD = "/build";

/**
 * The folder of the first stage: the checkout, which `npm test` has built. With
 * OFFLEDGER_TEST_IMAGE=build the steps are executed, which downloads packages.
 */
export async function buildStage(stage: Stage): Promise<string> {
  if (process.env["OFFLEDGER_TEST_IMAGE"] !== "build") return process.cwd();
  const folder = mkdtempSync(join(tmpdir(), "offledger-build-"));
  for (const copied of stage.copied) copy(copied, process.cwd(), folder);
  for (const line of stage.runs) await exec("sh", ["-c", line], { cwd: folder, timeout: 300_000 });
  return folder;
}

/** The working folder of the image, as the last stage creates it. */
export function createImageFolder(last: Stage, from: string): string {
  const folder = mkdtempSync(join(tmpdir(), "offledger-image-"));
  for (const copied of last.copied) {
    const root = copied.stage === undefined ? process.cwd() : from;
    const isPackages = copied.sources.includes(`${BUILD}/node_modules`);
    if (isPackages && from === process.cwd()) copyPackages(folder);
    else copy(copied, root, folder);
  }
  return folder;
}

export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** A path of the first stage, relative to its folder. */
export const inBuild = (path: string): string => (path.startsWith(`${BUILD}/`) ? relative(BUILD, path) : path);

/** As COPY: a target with a slash is a folder; of a source folder the contents are copied. */
function copy({ sources, target }: Copied, root: string, folder: string): void {
  for (const source of sources) {
    const to = target.endsWith("/") ? join(folder, target, basename(source)) : join(folder, target);
    cpSync(join(root, inBuild(source)), to, { recursive: true });
  }
}

/** The packages that `npm prune --omit=dev` keeps. */
function copyPackages(folder: string): void {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
    packages: Record<string, { readonly dev?: boolean; readonly link?: boolean }>;
  };
  for (const [path, { dev, link }] of Object.entries(packages)) {
    // The build context has no workspaces, so npm links none.
    if (!path.startsWith("node_modules/") || link === true || dev === true) continue;
    mkdirSync(join(folder, path), { recursive: true });
    const isOwn = (file: string) => !relative(path, file).split("/").includes("node_modules");
    cpSync(path, join(folder, path), { recursive: true, filter: isOwn });
  }
}
