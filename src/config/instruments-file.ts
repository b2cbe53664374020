/** The operator's instruments file: YAML, instruments by registrar and id. docs/instruments.md has an example. */
import { z } from "zod";
import { check, type Checked, integer, mustBe, once } from "../util/operator-file.js";
import { readSettingFile } from "./setting-error.js";

const text = z.string().regex(/\S/, mustBe("a non-empty string"));
const time = mustBe("a time in UTC such as 2026-01-31T12:00:00Z");

const entry = z.strictObject({
  name: text.optional(),
  symbol: text.optional(),
  /** At most the scale of a Daml Decimal. */
  decimals: integer(0, 10).optional(),
  description: text.optional(),
  pauseInfo: z
    .strictObject({
      reason: text.optional(),
      until: z.iso
        .datetime(time)
        .regex(/T\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/, time)
        .optional(),
    })
    .refine(({ reason, until }) => reason !== undefined || until !== undefined, "must have a reason or until")
    .optional(),
  showAccountInputFields: z.boolean().optional(),
  accountInputFieldsToShow: z
    .array(z.enum(["provider", "accountId"]))
    .superRefine(once)
    .optional(),
});

export type InstrumentEntry = z.infer<typeof entry>;
/** By registrar and instrument id. */
export type InstrumentEntries = ReadonlyMap<string, ReadonlyMap<string, InstrumentEntry>>;

const registrars = z
  .record(z.string(), z.record(z.string(), entry))
  .nullable()
  .transform((file) => new Map(Object.entries(file ?? {}).map(([id, one]) => [id, new Map(Object.entries(one))])));

export const checkInstruments = (value: unknown): Checked<InstrumentEntries> => check(registrars, value);

/** Reads the file; empty without a path. Throws SettingError with every problem. */
export const readInstruments = async (path: string | undefined): Promise<InstrumentEntries> =>
  path === undefined
    ? new Map()
    : readSettingFile("OFFLEDGER_INSTRUMENTS", "the path of a YAML file of instruments", path, checkInstruments);
