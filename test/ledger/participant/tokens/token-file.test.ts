import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { noToken, tokenFile } from "../../../../src/ledger/participant/tokens.js";
import { failureOf } from "../servers.js";
import { temporaryFiles } from "../temporary-files.js";

const { fileOf, pathOf } = temporaryFiles();

test("noToken returns undefined", async () => {
  expect(await noToken()).toBeUndefined();
});

describe("a token file", () => {
  test.each(["token", "token\n", "\r\n token \t\r\n"])(
    "gives its content without the white space around it: %j",
    async (content) => {
      expect(await tokenFile(await fileOf(content))()).toBe("token");
    },
  );

  test.each(["", " \n\t "])("that is empty (%j) is denied, with its path", async (content) => {
    const path = await fileOf(content);
    const failure = await failureOf(tokenFile(path)());
    expect(failure).toMatchObject({ kind: "denied", message: `the token file ${path} is empty` });
  });

  test("that is missing is denied, with its path and the reason", async () => {
    const path = pathOf("missing");
    const message = `the token file ${path} cannot be read (ENOENT)`;
    expect(await failureOf(tokenFile(path)())).toMatchObject({ kind: "denied", message });
  });

  test("that is a folder is denied", async () => {
    const path = pathOf("folder");
    await mkdir(path);
    expect(await failureOf(tokenFile(path)())).toMatchObject({ kind: "denied" });
  });

  test("that is replaced has its present content, also after a failure", async () => {
    const path = await fileOf("first");
    const source = tokenFile(path);
    expect(await source()).toBe("first");
    await rename(await fileOf("second"), path);
    expect(await source()).toBe("second");
    await rm(path);
    await failureOf(source());
    await writeFile(path, "third");
    expect(await source()).toBe("third");
  });
});
