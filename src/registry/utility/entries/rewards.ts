import type { Contract } from "../../../domain/contract.js";
import type { View } from "../../../store/port.js";
import type { Template } from "../../../domain/template.js";
import type { Considered } from "../../sdk/registry.js";
import type { ContractSelector } from "../selection/contract-selector.js";
import { ofGroup } from "../selection/group.js";
import { type Needed, neededContract } from "../selection/needed.js";
import { indexKeys } from "../templates/index-keys.js";
import {
  type AppRewardConfiguration,
  appRewardConfiguration,
  type FeaturedAppRight,
  featuredAppRight,
} from "../templates/services.js";
import type { ContextEntry } from "./context-entry.js";
import { selectProvider } from "./provider.js";

export const appRewardConfigurationEntry: ContextEntry = {
  value(builder, selector, inputs, required) {
    const provider = selectProvider(selector, inputs);
    if (provider === undefined) return undefined;
    const candidates = rewardsOf(selector.view, provider);
    const found = selector.selectOfGroup(candidates, required, needed(appRewardConfiguration, provider));
    return found === undefined ? undefined : builder.reference(found);
  },
};

export const featuredAppRightEntry: ContextEntry = {
  value(builder, selector, inputs, required) {
    const provider = selectProvider(selector, inputs);
    if (provider === undefined) return undefined;
    const rights = selector.view.byKey(featuredAppRight, indexKeys.featuredAppRight(provider));
    const candidates = rights.length === 0 ? rights : rightsThatCount(selector, rights, provider);
    const considered =
      candidates === rights || selector.context.recorder === undefined ? undefined : explainRights(rights, candidates);
    const found = selector.select(candidates, required, () => needed(featuredAppRight, provider), considered);
    return found === undefined ? undefined : builder.reference(found);
  },
};

const needed = ({ qualifiedName }: Template, provider: string): Needed =>
  neededContract(`the ${qualifiedName.split(":")[1]} of provider ${provider}`, {
    party: provider,
    template: qualifiedName,
  });

function rewardsOf(view: View, provider: string): readonly Contract<AppRewardConfiguration>[] {
  return view.byKey(appRewardConfiguration, indexKeys.appReward(provider));
}

/** Anyone can create a FeaturedAppRight. If the provider has any reward configuration, only rights of its DSO count. */
function rightsThatCount(
  selector: ContractSelector,
  rights: readonly Contract<FeaturedAppRight>[],
  provider: string,
): readonly Contract<FeaturedAppRight>[] {
  const rewards = ofGroup(rewardsOf(selector.view, provider), selector.group);
  const dso = (selector.newest(rewards) ?? rewards[0])?.fields.dso;
  return dso === undefined ? rights : rightsOfDso(rights, dso);
}

function explainRights(rights: readonly Contract[], candidates: readonly Contract[]): Considered {
  const counting = new Set(candidates);
  const others = rights.filter((right) => !counting.has(right));
  const reasons = new Map(others.map((right) => [right, "is of another DSO than the AppRewardConfiguration"]));
  return { candidates: rights, reasons };
}

/** Returns the given list if nothing is to be filtered out, which is the usual case. */
function rightsOfDso(
  rights: readonly Contract<FeaturedAppRight>[],
  dso: string,
): readonly Contract<FeaturedAppRight>[] {
  for (const right of rights) if (right.fields.dso !== dso) return rights.filter(({ fields }) => fields.dso === dso);
  return rights;
}
