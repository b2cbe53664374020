import type { View } from "../../store/port.js";
import { backgroundContext } from "../query-context.js";
import type { CheckContext } from "../sdk/registry.js";

/** Warnings are about the present: nobody keeps them. */
export const checkContext = (view: View, now: number, credentialDays: number): CheckContext => ({
  ...backgroundContext(view, now),
  credentialDays,
});
