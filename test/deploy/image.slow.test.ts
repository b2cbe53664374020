/** deploy/Dockerfile matches the program. No image is built: the test executes its steps in a folder. */
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { validate } from "dockerfile-utils";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config/config.js";
import { Program, run } from "../fixtures/program.js";
import { freshDatabase } from "../fixtures/postgres.js";
import { type Copied, dockerfile, type Stage, stages } from "./dockerfile.js";

const [build, image] = stages() as [Stage, Stage];
const [node = "", ...entry] = image.command("ENTRYPOINT");
const [checker = "", ...checkArguments] = image.command("HEALTHCHECK");

const BUILD = "/build";

/** A path of the first stage, relative to its folder. */
const inBuild = (path: string): string => (path.startsWith(`${BUILD}/`) ? relative(BUILD, path) : path);

/** As COPY: a target with a slash is a folder; of a source folder the contents are copied. */
function copy({ sources, target }: Copied, folder: string): void {
  for (const source of sources) {
    const to = target.endsWith("/") ? join(folder, target, basename(source)) : join(folder, target);
    cpSync(inBuild(source), to, { recursive: true });
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

/** The working folder of the image, as the last stage creates it. The first stage is the checkout, which is built. */
function createImageFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "offledger-image-"));
  for (const copied of image.copied) {
    if (copied.sources.includes(`${BUILD}/node_modules`)) copyPackages(folder);
    else copy(copied, folder);
  }
  return folder;
}

describe("the file", () => {
  test("has two valid stages", () => {
    expect(stages()).toHaveLength(2);
    expect(validate(dockerfile)).toEqual([]);
  });

  test("builds and runs on one base image with a supported version", () => {
    const { engines } = JSON.parse(readFileSync("package.json", "utf8")) as { engines: { node: string } };
    expect(engines.node).toBe(">=20.19");
    expect(build.image).toBe(image.image);
    expect(Number(/^node:(\d+)-\w+-slim$/.exec(image.image)?.[1])).toBeGreaterThanOrEqual(22);
  });

  test("copies existing files that .dockerignore permits", () => {
    const rules = readFileSync(".dockerignore", "utf8").split("\n");
    const permitted = rules.filter((rule) => rule.startsWith("!")).map((rule) => rule.slice(1));
    expect(rules.filter((rule) => rule !== "" && !/^[#!]/.test(rule))).toEqual(["*"]);
    const own = [...build.copied, ...image.copied].filter(({ stage }) => stage === undefined);
    const sources = own.flatMap((copied) => copied.sources);
    expect(sources.filter((source) => !existsSync(source))).toEqual([]);
    expect([...new Set(sources)].toSorted()).toEqual(permitted.toSorted());
    const built = image.copied.filter(({ stage }) => stage === "build").flatMap((copied) => copied.sources);
    expect(built.filter((source) => !source.startsWith("/build/") || !existsSync(inBuild(source)))).toEqual([]);
  });

  test("runs as a user other than root, who owns no files", () => {
    expect(image.last("USER")).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/);
    expect(image.copied.flatMap(({ flags }) => flags).filter((flag) => flag !== "--from=build")).toEqual([]);
  });

  test("has valid settings, and exposes the port", () => {
    const read = readConfig(image.command("CMD"), image.env);
    expect(read).toMatchObject({ ok: true, command: "serve", config: { host: "0.0.0.0", port: 8080 } });
    expect(image.last("EXPOSE")).toBe("8080");
    expect(image.last("STOPSIGNAL")).toBe("SIGTERM");
  });
});

describe("the image", () => {
  let folder: string;
  beforeAll(() => {
    folder = createImageFolder();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const check = (port: number) =>
    run(checker, checkArguments, { cwd: folder, env: { ...image.env, OFFLEDGER_PORT: String(port) } });

  test("contains no development packages", () => {
    expect(existsSync(join(folder, "node_modules/fastify"))).toBe(true);
    expect(["typescript", "vitest", "tsx"].filter((name) => existsSync(join(folder, "node_modules", name)))).toEqual(
      [],
    );
  });

  test("serves, passes the health check, and exits with 0 on its stop signal", async () => {
    const env = { ...image.env, OFFLEDGER_PORT: "0" };
    const program = new Program(node, [...entry, ...image.command("CMD")], { cwd: folder, env });
    const { port } = new URL(await program.listens());
    expect((await fetch(`http://127.0.0.1:${port}/docs/`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    expect(await check(Number(port))).toEqual({ code: 0, out: "ok\n", err: "" });
    program.signal(image.last("STOPSIGNAL") as NodeJS.Signals);
    expect(await program.ended()).toMatchObject({ code: 0, out: "" });
  });

  test("migrates a database", async () => {
    const database = await freshDatabase();
    onTestFinished(() => database.drop());
    const env = { ...image.env, OFFLEDGER_DATABASE_URL: database.url };
    const { code, out } = await run(node, [...entry, "migrate"], { cwd: folder, env });
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/^schema migrated from version 0 to \d+\n$/),
    });
  });

  test("fails the health check if nothing listens, for an error, and without a response in time", async () => {
    const servers = [
      http.createServer((_request, response) => response.writeHead(503).end()),
      http.createServer(() => {}),
    ];
    onTestFinished(() => {
      for (const server of servers) server.close().closeAllConnections();
    });
    await Promise.all(servers.map((server) => once(server.listen(0, "127.0.0.1"), "listening")));
    const ports = servers.map((server) => (server.address() as AddressInfo).port);
    const ended = await Promise.all([1, ...ports].map(check));
    expect(ended.map(({ code }) => code)).toEqual([1, 1, 1]);
  });
});
