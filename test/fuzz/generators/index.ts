/** All generators. */
import type { InputGenerator } from "../input.js";
import { http1 } from "./http1.js";
import { http2 } from "./http2.js";
import { rest } from "./rest.js";
import { rpc } from "./rpc.js";

export const generators: readonly InputGenerator[] = [rest, rpc, http1, http2];
