/** deploy/Dockerfile, held against the program. Nothing here builds an image: what is done is what its lines say. */
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config/config.js";
import { Program, run } from "../fixtures/program.js";
import { freshDatabase } from "../fixtures/postgres.js";
import { dockerfile, type Stage, stages } from "./dockerfile.js";
import { built, imageFolder, inBuild, removed } from "./image-folder.js";

const [build, image] = stages() as [Stage, Stage];
const [node = "", ...entry] = image.command("ENTRYPOINT");
const [checker = "", ...checkArguments] = image.command("HEALTHCHECK");

describe("the file", () => {
  test("has two stages, in which a checker of Dockerfiles finds nothing wrong", () => {
    expect(stages()).toHaveLength(2);
    expect(validate(dockerfile)).toEqual([]);
  });

  test("builds and runs on one base, of a version that is named and that the program supports", () => {
    const { engines } = JSON.parse(readFileSync("package.json", "utf8")) as { engines: { node: string } };
    expect(engines.node).toBe(">=20.19");
    expect(build.image).toBe(image.image);
    expect(Number(/^node:(\d+)-\w+-slim$/.exec(image.image)?.[1])).toBeGreaterThanOrEqual(22);
  });

  test("copies what is there, and what .dockerignore lets through", () => {
    const rules = readFileSync(".dockerignore", "utf8").split("\n");
    const lets = rules.filter((rule) => rule.startsWith("!")).map((rule) => rule.slice(1));
    expect(rules.filter((rule) => rule !== "" && !/^[#!]/.test(rule))).toEqual(["*"]);
    const own = [...build.copied, ...image.copied].filter(({ stage }) => stage === undefined);
    const sources = own.flatMap((copied) => copied.sources);
    expect(sources.filter((source) => !existsSync(source))).toEqual([]);
    expect([...new Set(sources)].toSorted()).toEqual(lets.toSorted());
    const made = image.copied.filter(({ stage }) => stage === "build").flatMap((copied) => copied.sources);
    expect(made.filter((source) => !source.startsWith("/build/") || !existsSync(inBuild(source)))).toEqual([]);
  });

  test("gives the program a user that is not root and owns nothing of it", () => {
    expect(image.last("USER")).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/);
    expect(image.copied.flatMap(({ flags }) => flags).filter((flag) => flag !== "--from=build")).toEqual([]);
  });

  test("sets what the program takes, and exposes the port that it listens on", () => {
    const read = readConfig(image.command("CMD"), image.env);
    expect(read).toMatchObject({ ok: true, command: "serve", config: { host: "0.0.0.0", port: 8080 } });
    expect(image.last("EXPOSE")).toBe("8080");
    expect(image.last("STOPSIGNAL")).toBe("SIGTERM");
  });
});

describe("what it makes", () => {
  let from: string;
  let folder: string;
  beforeAll(async () => {
    from = await built(build);
    folder = imageFolder(image, from);
  }, 400_000);
  afterAll(() => {
    removed(folder);
    if (from !== process.cwd()) removed(from);
  }, 400_000);

  const check = (port: number) =>
    run(checker, checkArguments, { cwd: folder, env: { ...image.env, OFFLEDGER_PORT: String(port) } });

  test("holds no package that is for development", () => {
    expect(existsSync(join(folder, "node_modules/fastify"))).toBe(true);
    expect(["typescript", "vitest", "tsx"].filter((name) => existsSync(join(folder, "node_modules", name)))).toEqual(
      [],
    );
  });

  test("serves, is found healthy by the check, and ends with 0 by the signal", async () => {
    const env = { ...image.env, OFFLEDGER_PORT: "0", OFFLEDGER_LOG_LEVEL: "warn" };
    const program = new Program(node, [...entry, ...image.command("CMD")], { cwd: folder, env });
    const [, port = ""] = await program.printed(/^offledger serves .* at http:\/\/[\w.]+:(\d+)\n/);
    expect((await fetch(`http://127.0.0.1:${port}/docs/`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    expect(await check(Number(port))).toEqual({ code: 0, out: "ok\n", err: "" });
    program.signal(image.last("STOPSIGNAL") as NodeJS.Signals);
    expect(await program.ended()).toMatchObject({ code: 0, err: "" });
  });

  test("brings the schema of a database up to date", async () => {
    const database = await freshDatabase();
    onTestFinished(() => database.drop());
    const env = { ...image.env, OFFLEDGER_DATABASE_URL: database.url };
    const { code, out } = await run(node, [...entry, "migrate"], { cwd: folder, env });
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/^schema migrated from version 0 to \d+\n$/),
    });
  });

  test("is found ill where nothing listens", async () => {
    expect((await check(1)).code).toBe(1);
  });

  test("is found ill where the answer is an error", async () => {
    const server = http.createServer((_request, response) => response.writeHead(503).end()).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    expect((await check((server.address() as AddressInfo).port)).code).toBe(1);
  });

  test("is found ill where no answer comes, without waiting for ever", async () => {
    const sockets: net.Socket[] = [];
    const server = net.createServer((socket) => void sockets.push(socket)).listen(0, "127.0.0.1");
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    await once(server, "listening");
    expect((await check((server.address() as AddressInfo).port)).code).toBe(1);
    expect(sockets).toHaveLength(1);
  });
});
