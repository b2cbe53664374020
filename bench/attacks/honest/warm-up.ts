/** Ordinary load before an attack: the memory of a service that has just started is not that of one in use. */
import { encodePost, withHeader } from "../../load/connection.js";
import { loadHttp1 } from "../../load/http1.js";
import { cycle } from "../../serving/requests.js";
import { honestRequests } from "./requests.js";

const SECONDS = 5;

/** `token` is that of the honest caller. */
export async function warmUp(url: string, token: string | undefined): Promise<void> {
  const requests = honestRequests.map(({ path, body }) => {
    const request = encodePost(path, "application/json", body);
    return token === undefined ? request : withHeader(request, `Authorization: Bearer ${token}`);
  });
  // A slow machine may shed some.
  await loadHttp1(url, SECONDS, cycle(requests), undefined, [200, 503]);
}
