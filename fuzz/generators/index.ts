/** Every sort of input. */
import type { Sort } from "../input.js";
import { http1 } from "./http1.js";
import { http2 } from "./http2.js";
import { rest } from "./rest.js";
import { rpc } from "./rpc.js";

export const sorts: readonly Sort[] = [rest, rpc, http1, http2];
