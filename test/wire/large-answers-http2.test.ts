/** A stream: what is wrong with what came until it was closed. */
async function ask(session: http2.ClientHttp2Session, pace: Pace, asked: Asked, opened?: Promise<void>) {
  const { method, path, type, body } = requestFor(asked);
  const stream = session.request({ ":method": method, ":path": path, "content-type": type, te: "trailers" });
  stream.end(body);
  const chunks: Buffer[] = [];
  const closed = once(stream, "close");
  await opened;
  let left = 100 * KB;
  stream.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    left -= chunk.length;
    if (pace === "cut" && left < 0) stream.close(http2.constants.NGHTTP2_CANCEL);
    if (pace !== "slow") return;
    stream.pause();
    setTimeout(() => stream.resume(), 1);
  });
  await within(SOON_MS, "the end of a stream", closed);
  return wrongBody(asked, Buffer.concat(chunks), pace === "cut");
}

describe("over HTTP/2", () => {
  test("streams that are read at once, slowly, late, or reset in the middle have their own", async () => {
    const sessions = Array.from({ length: 3 }, () => http2.connect(url));
    onTestFinished(() => sessions.forEach((session) => session.destroy()));
    const start = (pace: Pace, much: number, opened?: Promise<void>): Promise<string[]>[] =>
      sessions.flatMap((session) => questions(much, overHttp2).map((asked) => ask(session, pace, asked, opened)));
    const [unread] = await held(1);
    const reading = gate();
    const late = start("held", 4, reading.opened);
    const slow = start("slow", 4);
    const wrong: string[][] = [];
    for (let round = 0; round < 3; round++) {
      // Over HTTP/1.1 memory is used again, and gRPC copies what it has in such.
      const fast = clients(2, "fast", () => questions(5));
      wrong.push(...(await Promise.all([...start("fast", 4), ...start("cut", 3)])), await wrongOf(fast));
    }
    reading.open();
    unread?.read();
    wrong.push(...(await Promise.all([...late, ...slow])), (await unread?.wrong()) ?? ["nobody"]);
    expect(wrong.flat()).toEqual([]);
  });
});
