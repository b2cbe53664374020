/** An HTTP/2 client gets as many streams as the limit says, also while large responses wait for it, and all of their bytes. */
import { once } from "node:events";
import http2 from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import { createBudgets } from "../../../src/transport/admission/budgets.js";
import { createServer } from "../../../src/transport/server.js";
import {
  checkBody,
  encodeRequest,
  type Form,
  type LargeRequest,
  largeResponseServices,
} from "../../fixtures/large-responses.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until, within } from "../../fixtures/wait.js";

const WAIT_MS = 25_000;
const LARGEST_WINDOW = 2 ** 31 - 1;
/** Together more than Node.js allows a session. */
const LARGE = { count: 40, bytes: 400_000 };
const SMALLER = { count: 80, bytes: 40_000 };

const requests = ({ count, bytes }: typeof LARGE, form: Form): LargeRequest[] =>
  Array.from({ length: count }, (_, index) => ({ form, id: `request-${index}.${bytes}` }));

test.for<Form>(["REST", "gRPC"])("by %s", async (form) => {
  const budgets = createBudgets({ responseMegabytes: 512, requests: 10_000 });
  const server = await createServer(largeResponseServices, { ...TEST_SERVER_OPTIONS, budgets });
  onTestFinished(() => server.close(100));
  // No byte of a body may be sent yet.
  const session = http2.connect(await server.listen("127.0.0.1", 0), { settings: { initialWindowSize: 0 } });
  onTestFinished(() => session.destroy());
  session.on("error", () => undefined);
  const outcomes: string[] = [];
  const read = async (request: LargeRequest) => {
    const { method, path, type, body } = encodeRequest(request);
    const stream = session.request({ ":method": method, ":path": path, "content-type": type, te: "trailers" });
    stream.on("error", () => undefined).on("response", ({ ":status": status }) => outcomes.push(String(status)));
    stream.on("close", () => stream.rstCode === 0 || outcomes.push(`code ${stream.rstCode}`));
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk)).end(body);
    await within(WAIT_MS, "the stream closes", once(stream, "close"));
    return checkBody(request, Buffer.concat(chunks), false);
  };
  const bodies = requests(LARGE, form).map(read);
  await until("the first responses have begun", () => outcomes.length === LARGE.count);
  bodies.push(...requests(SMALLER, form).map(read));
  await until("all have an outcome", () => outcomes.length === LARGE.count + SMALLER.count);
  expect(new Set(outcomes)).toEqual(new Set(["200"]));

  session.settings({ initialWindowSize: LARGEST_WINDOW });
  session.setLocalWindowSize(LARGEST_WINDOW);
  expect((await Promise.all(bodies)).flat()).toEqual([]);
});
