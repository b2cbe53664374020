import { create, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import {
  ChoiceContextSchema,
  FactoryWithChoiceContextSchema,
} from "../../../gen/offledger/choice_context/v1/choice_context_pb.js";
import {
  TransferFactoryWithChoiceContextSchema,
  TransferFactoryWithChoiceContext_TransferKind as TransferKind,
} from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { ChoiceContextSchema as UtilityChoiceContextSchema } from "../../../gen/offledger/utility/v0/choice_context_pb.js";
import { FactoryWithChoiceContextSchema as UtilityFactorySchema } from "../../../gen/offledger/utility/v0/factory_pb.js";
import type { ContextAnswer, FactoryAnswer, TransferFactoryAnswer } from "../../registry/sdk/registry.js";
import { choiceContext, utilityChoiceContext } from "./context.js";

/** The form of disclosed contracts: the token standard's with or without debug fields, or the utility operations'. */
export type Variant = "debug" | "plain" | "utility";

/**
 * A reply with disclosed contracts, not yet encoded. The transport either encodes `message()` or joins the encodings
 * that it keeps with each contract; both must give the same bytes.
 */
export class ContextReply<O extends DescMessage = DescMessage, A extends ContextAnswer = ContextAnswer> {
  readonly output: O;
  readonly variant: Variant;
  readonly answer: A;
  /** The fields before `choiceContext`, by field number; undefined if the message is itself a choice context. */
  readonly factory: { readonly factoryId: string; readonly transferKind?: TransferKind } | undefined;

  constructor(output: O, variant: Variant, answer: A, factory?: ContextReply["factory"]) {
    this.output = output;
    this.variant = variant;
    this.answer = answer;
    this.factory = factory;
  }

  message(): MessageShape<O> {
    const context =
      this.variant === "utility"
        ? utilityChoiceContext(this.answer)
        : choiceContext(this.answer, this.variant === "plain");
    const init = this.factory === undefined ? context : { ...this.factory, choiceContext: context };
    // Only the functions below create replies, each with the schema of its form.
    return create(this.output, init as MessageInitShape<O>);
  }
}

const variantOf = (excludeDebugFields: boolean): Variant => (excludeDebugFields ? "plain" : "debug");

export function contextReply(answer: ContextAnswer, excludeDebugFields: boolean) {
  return new ContextReply(ChoiceContextSchema, variantOf(excludeDebugFields), answer);
}

export function factoryReply(answer: FactoryAnswer, excludeDebugFields: boolean) {
  const { factoryId } = answer;
  return new ContextReply(FactoryWithChoiceContextSchema, variantOf(excludeDebugFields), answer, { factoryId });
}

export function transferFactoryReply(answer: TransferFactoryAnswer, excludeDebugFields: boolean) {
  const factory = { factoryId: answer.factoryId, transferKind: TransferKind[answer.transferKind] };
  return new ContextReply(TransferFactoryWithChoiceContextSchema, variantOf(excludeDebugFields), answer, factory);
}

export function utilityContextReply(answer: ContextAnswer) {
  return new ContextReply(UtilityChoiceContextSchema, "utility", answer);
}

export function utilityFactoryReply(answer: FactoryAnswer) {
  return new ContextReply(UtilityFactorySchema, "utility", answer, { factoryId: answer.factoryId });
}
