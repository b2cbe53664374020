/** Serves a page from an origin of its own. */
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

export interface Origin {
  readonly url: string;
  close(): Promise<void>;
}

/** Bundles the script and serves a page that runs it. */
export async function servePage(script: URL): Promise<Origin> {
  const built = await build({
    entryPoints: [fileURLToPath(script)],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    logLevel: "silent",
  });
  const bundle = built.outputFiles[0]?.text ?? "";
  const html = `<!doctype html><title>wallet</title><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>`;
  const server = createServer((request, response) => {
    const isScript = request.url === "/page.js";
    response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" });
    response.end(isScript ? bundle : html);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
