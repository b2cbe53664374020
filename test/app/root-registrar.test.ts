/** `/registry/…` with `user`: the only registrar among the parties that are read. */
import { ConnectError, Code } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { startApp } from "../../src/app/app.js";
import { rootRegistrarOf } from "../../src/app/root-registrar.js";
import { NotReady, type View } from "../../src/state/port.js";
import { quiet } from "../fixtures/run-service.js";

const info = (url: string) => fetch(`${url}/registry/metadata/v1/info`);

async function start(options: object): Promise<string> {
  const app = await startApp({ ...quiet(), rootRegistrar: "user", ...options });
  onTestFinished(() => app.close());
  return app.url;
}

test("a registry of one registrar is served at the root", async () => {
  const response = await info(await start({ registry: "minimal" }));
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ adminId: expect.stringMatching(/^coffee-club::/) as string });
});

test("with two registrars the root says which there are", async () => {
  const response = await info(await start({}));
  expect(response.status).toBe(404);
  expect(await response.text()).toMatch(
    /needs one registrar, but 2 registrars are read: acme-registrar::.*, nordic-registrar::/,
  );
});

function follow() {
  const state = { time: 0, parties: ["issuer::1"] as readonly string[], registrars: [] as string[], isReady: true };
  const current = rootRegistrarOf(
    { ...quiet(), rootRegistrar: "user" },
    {
      inventory: () => ({
        registrars: state.registrars.map((party) => ({ party, instruments: [] })),
        counts: [],
      }),
    },
    {
      parties: () => state.parties,
      reader: {
        read<T>(look: (view: View) => T): T {
          if (!state.isReady) throw new NotReady();
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the inventory above reads nothing
          return look({} as View);
        },
      } as never,
    },
    Date.now,
    () => state.time,
  );
  if (current === undefined) throw new Error("there is no root");
  return { state, current };
}

test("a registrar that comes later is found within a second, and another party's does not count", () => {
  const { state, current } = follow();
  expect(current).toThrow("no registrar is read");
  state.registrars = ["issuer::1", "other::1"];
  state.time = 999;
  expect(current).toThrow("no registrar is read");
  state.time = 1_000;
  expect(current()).toBe("issuer::1");
});

test("before the first state the root is not ready", () => {
  const { state, current } = follow();
  state.isReady = false;
  expect(current).toThrow(expect.objectContaining({ code: Code.Unavailable }) as ConnectError);
  state.isReady = true;
  state.registrars = ["issuer::1"];
  expect(current()).toBe("issuer::1");
});
