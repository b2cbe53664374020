import type { Template } from "../../../domain/template.js";
import { holding } from "./holding.js";
import { burnOffer, burnRequest, dvpLegAllocation, mintOffer, mintRequest, transferOffer } from "./instructions.js";
import { instrumentConfiguration } from "./instruments.js";
import { credential, transferPreapproval } from "./parties.js";
import {
  allocationFactory,
  appRewardConfiguration,
  featuredAppRight,
  registrarService,
  transferRule,
} from "./services.js";

export const templates: readonly Template[] = [
  allocationFactory,
  registrarService,
  instrumentConfiguration,
  transferRule,
  appRewardConfiguration,
  featuredAppRight,
  credential,
  transferPreapproval,
  transferOffer,
  dvpLegAllocation,
  mintRequest,
  mintOffer,
  burnRequest,
  burnOffer,
  holding,
];
