/** Child processes of the bench, with request and reply over IPC; and what it has started, until its end. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { within } from "../test/fixtures/wait.js";

const TIMEOUT_MS = 120_000;

interface Resource {
  stop(): Promise<unknown>;
}

export type Keep = <R extends Resource>(starting: Promise<R>) => Promise<R>;

/** Runs `use`, then stops every kept resource in reverse order, also after an error. */
export async function withResources<T>(use: (keep: Keep) => Promise<T>): Promise<T> {
  const resources: Resource[] = [];
  try {
    return await use(async (starting) => {
      const resource = await starting;
      resources.push(resource);
      return resource;
    });
  } finally {
    for (const resource of resources.toReversed()) await resource.stop();
  }
}

/** Starts a script that calls `serve`. Each reply has the type that its question has there. */
export async function startChild(script: URL, options: object) {
  const child = fork(script, { serialization: "advanced", execArgv: ["--import", "tsx"] });
  const ask = async <Reply>(question: object): Promise<Reply> => {
    const settled = new AbortController();
    const { signal } = settled;
    const exit = once(child, "exit", { signal }).then(() =>
      Promise.reject(new Error(`${script.pathname} exited early`)),
    );
    try {
      const reply = Promise.race([once(child, "message", { signal }), exit]);
      child.send(question);
      const [value] = (await within(TIMEOUT_MS, `${script.pathname} replies`, reply)) as [Reply];
      return value;
    } finally {
      settled.abort();
    }
  };
  const stop = async () => {
    const exit = once(child, "exit");
    if (child.exitCode === null && child.signalCode === null && child.kill()) await exit;
  };
  try {
    return { url: await ask<string>(options), ask, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What a script of `startChild` runs with its options. */
type Begin<Options, Question> = (
  options: Options,
) => Promise<{ readonly url: string; readonly answer: (question: Question) => unknown }>;

/** Runs a script of `startChild`: begins with its options, replies with a URL, then answers. It ends with its parent. */
export function serve(begin: Begin<never, never>): void {
  process.once("message", (options) => {
    void begin(options as never).then(({ url, answer }) => {
      process.on("message", (question) => process.send?.(answer(question as never)));
      process.send?.(url);
    });
  });
  process.on("disconnect", () => process.exit());
}
