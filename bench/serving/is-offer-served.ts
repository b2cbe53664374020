/** Whether a service answers the accept context of an offer. */
import { acceptPath } from "./requests.js";

export async function isOfferServed(url: string, offer: number): Promise<boolean> {
  const response = await fetch(url + acceptPath(offer), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  await response.arrayBuffer();
  return response.status === 200;
}
