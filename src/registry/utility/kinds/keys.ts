import { key } from "../../../store/store.js";

/** The keys under which the rules look, one for each way of asking. */
export const keys = {
  factory: (registrar: string) => key("factory", registrar),
  service: (registrar: string) => key("service", registrar),
  instrument: (registrar: string, id: string) => key("instrument", registrar, id),
  transferRule: (registrar: string) => key("transfer-rule", registrar),
  appReward: (provider: string) => key("app-reward", provider),
  featuredAppRight: (provider: string) => key("featured-app-right", provider),
  credential: (holder: string, issuer: string) => key("credential", holder, issuer),
  preapproval: (receiver: string, admin: string) => key("preapproval", receiver, admin),
};
