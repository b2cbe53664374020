import { key } from "../../../store/store.js";

/** The keys under which the rules look, one for each way of asking. */
export const keys = {
  factory: (registrar: string) => key("factory", registrar),
  service: (registrar: string) => key("service", registrar),
  instrument: (registrar: string, id: string) => key("instrument", registrar, id),
  instruments: (registrar: string) => key("instruments", registrar),
  transferRule: (registrar: string) => key("transfer-rule", registrar),
  appReward: (provider: string) => key("app-reward", provider),
  featuredAppRight: (provider: string) => key("featured-app-right", provider),
  credential: (holder: string, issuer: string) => key("credential", holder, issuer),
  supply: (registrar: string, id: string) => key("supply", registrar, id),
  preapproval: (receiver: string, admin: string) => key("preapproval", receiver, admin),
};
